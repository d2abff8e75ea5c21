import { nearestName } from "../base/nearest-name.js";
import type { Option } from "./option.js";
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

const TORCH_PREFIX = "PET_";

/** The flags of torchrun that exist here, by torchrun's names. */
const FLAGS = [
	...["nnodes", "nproc-per-node", "role", "module", "no-python"],
	...["rdzv-backend", "rdzv-endpoint", "rdzv-id", "rdzv-conf", "standalone"],
	...["node-rank", "master-addr", "master-port", "local-addr"],
	...["max-restarts", "signals-to-handle", "shutdown-timeout"],
	...["log-dir", "redirects", "tee", "local-ranks-filter"],
	"virtual-local-rank",
];

/** torchrun's variables with names of their own, and the flags that they set. */
const OTHER_NAMES: Readonly<Record<string, string>> = {
	TORCH_ELASTIC_SHUTDOWN_TIMEOUT: "shutdown-timeout",
	TORCHELASTIC_LOG_LINE_PREFIX_TEMPLATE: "log-prefix",
};

const OPTION_OF = new Map(
	[
		...FLAGS.map((flag) => [
			TORCH_PREFIX + flag.replaceAll("-", "_").toUpperCase(),
			flag,
		]),
		...Object.entries(OTHER_NAMES),
	].flatMap(([variable = "", flag = ""]): [string, Option<unknown>][] => {
		const option = ALL_OPTIONS.find(
			({ name, aliases }) => name === flag || aliases.includes(flag),
		);
		return option === undefined ? [] : [[variable, option]];
	}),
);

/** What torchrun and elastic-run give their workers. */
const TORCH_WORKER_VARIABLES: readonly string[] = [
	...["RESTART_COUNT", "MAX_RESTARTS", "RUN_ID", "USE_AGENT_STORE"],
	...["SIGNALS_TO_HANDLE", "TIMER_FILE"],
].map((name) => `TORCHELASTIC_${name}`);

/** The launcher writes it. */
const ERROR_FILE = "TORCHELASTIC_ERROR_FILE";

/**
 * Reads torchrun's variables as torchrun does: each is the default of a flag. A launcher inside a worker does not, because
 * they describe the run that the worker belongs to. One warning names all that have no effect.
 */
export function settingsFromTorchrun(
	environment: Environment,
): EnvironmentReading {
	const settings = new Map<string, Setting>();
	const given = Object.entries(environment).flatMap(([name, text]) =>
		text ? [{ name, text }] : [],
	);
	const isInWorker = Boolean(environment.ELASTIC_RUN_CHANNEL);
	const idle: string[] = [];
	for (const { name, text } of given) {
		const option = OPTION_OF.get(name);
		const describesRun = option !== undefined || name.startsWith(TORCH_PREFIX);
		if (isInWorker && describesRun) continue;
		if (option !== undefined) {
			const origin = `environment ${name}`;
			const inOurNotation =
				option.argument === undefined ? switchText(text) : text;
			settings.set(option.key, { text: inOurNotation, place: origin, origin });
		} else if (isWithoutEffect(name, environment)) idle.push(name);
	}
	return { settings, warnings: warningOf(idle) };
}

/** Whether a setting comes from one of torchrun's variables. */
export function isTorchruns(place: string): boolean {
	return place.startsWith(`environment ${TORCH_PREFIX}`);
}

/** torchrun takes every whole number but 0 for "on". */
function switchText(text: string): string {
	if (!/^\s*[+-]?\d+\s*$/.test(text)) return text;
	return Number(text) === 0 ? "0" : "1";
}

function isWithoutEffect(
	name: string,
	{ TORCHELASTIC_RUN_ID, LOCAL_RANK }: Environment,
): boolean {
	if (name.startsWith(TORCH_PREFIX)) return true;
	if (!name.startsWith("TORCHELASTIC_") || name === ERROR_FILE) return false;
	const isWorker = Boolean(TORCHELASTIC_RUN_ID && LOCAL_RANK);
	return !(isWorker && TORCH_WORKER_VARIABLES.includes(name));
}

function warningOf(names: readonly string[]): readonly string[] {
	if (names.length === 0) return [];
	const have = names.length === 1 ? "has" : "have";
	return [`environment ${names.join(", ")} ${have} no effect here`];
}

/** A torchrun flag without a meaning here. */
interface ForeignFlag {
	/** Without the leading dashes. */
	readonly name: string;
	/** Undefined for a switch. */
	readonly argument?: "VALUE";
	/** What to use here instead; undefined: nothing is needed, and the flag is ignored. */
	readonly instead?: string;
}

export const FOREIGN_FLAGS: readonly ForeignFlag[] = [
	{ name: "monitor-interval", argument: "VALUE" },
	{ name: "start-method", argument: "VALUE" },
	{ name: "run-path" },
	{ name: "event-log-handler", argument: "VALUE" },
	{ name: "logs-specs", argument: "VALUE" },
	{ name: "duplicate-stdout-filters", argument: "VALUE" },
	{ name: "duplicate-stderr-filters", argument: "VALUE" },
	{
		name: "numa-binding",
		argument: "VALUE",
		instead:
			"put numactl before the command: elastic-run [options] numactl … python3 train.py",
	},
];

/** One warning for all ignored flags; undefined if there were none. */
export function ignoredFlagsWarning(
	names: readonly string[],
): string | undefined {
	if (names.length === 0) return undefined;
	const [have, are] = names.length === 1 ? ["has", "is"] : ["have", "are"];
	return `${names.join(", ")} ${have} no meaning here and ${are} ignored`;
}
