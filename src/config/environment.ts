import { nearestName } from "../base/nearest-name.js";
import { ALL_OPTIONS } from "./options.js";
import type { Environment, EnvironmentReading, Setting } from "./settings.js";

const PREFIX = "ELASTIC_RUN_";

/** Variables that a launcher gives its workers. A launcher inside a worker must not read them as flags. */
const WORKER_VARIABLES: readonly string[] = [
	"ELASTIC_RUN_CHANNEL",
	"ELASTIC_RUN_INSTANCE",
	"ELASTIC_RUN_ROUND",
	"ELASTIC_RUN_RUN_ID",
	"ELASTIC_RUN_NODE_ID",
	"ELASTIC_RUN_INCARNATION",
	"ELASTIC_RUN_HOOK",
];

/** Variables that may hold the store's login instead of `--rdzv-conf`. */
export const USERNAME_VARIABLE = "ELASTIC_RUN_RDZV_USERNAME";
export const PASSWORD_VARIABLE = "ELASTIC_RUN_RDZV_PASSWORD";
/** The variable that may hold the token instead of `--http-token-file`. */
export const HTTP_TOKEN_VARIABLE = "ELASTIC_RUN_HTTP_TOKEN";

/** Variables with credentials. */
export const SECRET_VARIABLES: readonly string[] = [
	USERNAME_VARIABLE,
	PASSWORD_VARIABLE,
	HTTP_TOKEN_VARIABLE,
];

/** Credentials from variables, so that no command line shows them. */
export interface LoginVariables {
	readonly username: string | undefined;
	readonly password: string | undefined;
}

/** An empty variable counts as unset. */
export function loginFromEnvironment(environment: Environment): LoginVariables {
	return {
		username: environment[USERNAME_VARIABLE] || undefined,
		password: environment[PASSWORD_VARIABLE] || undefined,
	};
}

/** The launcher's variables that are not flags. */
const OTHER_VARIABLES: readonly string[] = [
	"ELASTIC_RUN_DIR",
	"ELASTIC_RUN_DEBUG",
	"ELASTIC_RUN_AZURE_METADATA_URL",
	...SECRET_VARIABLES,
];

const OPTION_VARIABLES: readonly string[] = ALL_OPTIONS.flatMap(
	(option) => option.variables,
);

/** Reads the settings from the environment, and warns of each variable that looks like a setting but is none. */
export function settingsFromEnvironment(
	environment: Environment,
): EnvironmentReading {
	const insideWorker = Boolean(environment.ELASTIC_RUN_CHANNEL);
	const readable = (variable: string) =>
		!(insideWorker && WORKER_VARIABLES.includes(variable));
	const settings = new Map<string, Setting>();
	for (const option of ALL_OPTIONS) {
		const variable = option.variables.find(
			(name) => readable(name) && Boolean(environment[name]),
		);
		const text = variable === undefined ? undefined : environment[variable];
		if (text === undefined) continue;
		const origin = `environment ${variable}`;
		settings.set(option.key, { text, place: origin, origin });
	}
	const warnings = Object.keys(environment)
		.filter(isForeign)
		.map(
			(name) =>
				`environment ${name} is not known and has no effect${nearestVariable(name)}`,
		);
	return { settings, warnings };
}

function isForeign(name: string): boolean {
	return (
		name.startsWith(PREFIX) &&
		!OPTION_VARIABLES.includes(name) &&
		!WORKER_VARIABLES.includes(name) &&
		!OTHER_VARIABLES.includes(name)
	);
}

/** Compares names without their common prefix. */
function nearestVariable(name: string): string {
	const known = [...OPTION_VARIABLES, ...OTHER_VARIABLES].map(withoutPrefix);
	const nearest = nearestName(withoutPrefix(name), known);
	return nearest === undefined ? "" : `; did you mean ${PREFIX}${nearest}?`;
}

function withoutPrefix(name: string): string {
	return name.slice(PREFIX.length);
}
