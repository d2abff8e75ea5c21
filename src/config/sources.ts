import { resolve } from "node:path";
import { findConfigFiles, readConfigFile } from "./config-file.js";
import {
	HTTP_TOKEN_VARIABLE,
	loginFromEnvironment,
	settingsFromEnvironment,
	settingsFromTorchrun,
} from "./environment.js";
import { mergeSettings } from "./exclusions.js";
import type { Host } from "./host.js";
import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import type { ResolveRequest } from "./resolve.js";
import type { Environment } from "./settings.js";
import {
	EMPTY_VALUE,
	type Setting,
	type Settings,
	type SourceReading,
} from "./settings.js";

export interface CommandLine {
	readonly flags: Settings;
	readonly script: string | undefined;
	readonly args: readonly string[];
	/** The problems found while parsing: unknown flags, missing values. */
	readonly problems: readonly string[];
}

/** The result of reading a command line with all other sources. */
interface CommandLineReading {
	readonly request: ResolveRequest;
	/** Warnings of variables without effect. */
	readonly warnings: readonly string[];
	/** Facts that the user should know and need not change. */
	readonly notes: readonly string[];
}

export async function readCommandLine(
	line: CommandLine,
	host: Host,
): Promise<CommandLineReading> {
	const { settings, problems, ...reading } = await readSources(
		line.flags,
		host,
	);
	const request = {
		script: line.script,
		args: line.args,
		cwd: host.cwd,
		environment: host.environment,
		settings,
		login: loginFromEnvironment(host.environment),
		httpToken: host.environment[HTTP_TOKEN_VARIABLE] || undefined,
		nameOf: (option: Option<unknown>) => `--${option.name}`,
		problems: [...line.problems, ...problems],
	};
	return { request, ...reading };
}

/** Collects the settings in order of precedence: flags, our variables, torchrun's variables, config file. */
export async function readSources(flags: Settings, host: Host) {
	const variables = withoutServices(host.environment);
	const environment = settingsFromEnvironment(variables.environment);
	const torchrun = settingsFromTorchrun(variables.environment);
	const ours = mergeSettings([flags, environment.settings]);
	const file = await readNamedOrFound(ours.get(OPTIONS.config.key), host.cwd);
	return {
		settings: mergeSettings([ours, torchrun.settings, file.settings]),
		problems: file.problems,
		warnings: [...environment.warnings, ...torchrun.warnings],
		notes: [...variables.notes, ...file.notes],
	};
}

/** The settings of the named config file, or of the one in the working directory. */
async function readNamedOrFound(
	named: Setting | undefined,
	cwd: string,
): Promise<SourceReading & { readonly notes: readonly string[] }> {
	const nothing = { settings: new Map(), problems: [], notes: [] };
	if (named !== undefined)
		return { ...(await readNamedFile(named, cwd)), notes: [] };
	const found = await findConfigFiles(cwd);
	const unread = found.flatMap(({ name, unread: why }) =>
		why === undefined ? [] : [`${name} is not read: ${why}`],
	);
	const [file, other] = found.filter((one) => one.unread === undefined);
	if (file === undefined) return { ...nothing, notes: unread };
	if (other !== undefined) {
		return {
			...nothing,
			problems: [
				`both ${file.name} and ${other.name} are here; name one with --config`,
			],
		};
	}
	return {
		...(await readConfigFile(file.name, file.path)),
		notes: [...unread, `settings are read from ${file.name}`],
	};
}

export async function readNamedFile(
	{ text, place }: Setting,
	cwd: string,
): Promise<SourceReading> {
	return text === ""
		? { settings: new Map(), problems: [`${place}: ${EMPTY_VALUE}`] }
		: readConfigFile(text, resolve(cwd, text), place);
}

/** What Kubernetes writes into each pod of a namespace for a Service named `elastic-run-master`, or `pet`. */
const INJECTED =
	/^(?:ELASTIC_RUN|PET)(?:_.+)?_(?:SERVICE_HOST|SERVICE_PORT(?:_.+)?|PORT_\d+_(?:TCP|UDP|SCTP)(?:_(?:PROTO|PORT|ADDR))?)$/;

/** The value of a Service's `_PORT`: one of ours is a number. */
const ADDRESS = /^(?:tcp|udp|sctp):\/\//;

/** The environment without the variables of Services whose names begin like ours, and a note that names these. */
export function withoutServices(environment: Environment): {
	readonly environment: Environment;
	readonly notes: readonly string[];
} {
	const names = Object.keys(environment).filter((name) =>
		isInjected(name, environment[name] ?? ""),
	);
	if (names.length === 0) return { environment, notes: [] };
	const others = Object.entries(environment).filter(
		([name]) => !names.includes(name),
	);
	return {
		environment: Object.fromEntries(others),
		notes: [
			`environment ${names.join(", ")}: written by Kubernetes for a Service, not read as settings`,
		],
	};
}

function isInjected(name: string, value: string): boolean {
	return (
		INJECTED.test(name) ||
		(/^(?:ELASTIC_RUN|PET)(?:_.+)?_PORT$/.test(name) && ADDRESS.test(value))
	);
}
