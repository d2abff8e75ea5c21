import { findConfigFiles, readConfigFile } from "./config-file.js";
import { settingsFromEnvironment } from "./environment.js";
import type { Host } from "./host.js";
import { OPTIONS } from "./options.js";
import {
	type Resolution,
	type ResolveRequest,
	resolveSettings,
} from "./resolve.js";
import { loginFromEnvironment } from "./resolve-credentials.js";
import { httpTokenFromEnvironment } from "./resolve-http.js";
import {
	EMPTY_VALUE,
	mergeSettings,
	type NameOf,
	type Setting,
	SettingReader,
	type Settings,
	type SourceReading,
} from "./settings.js";

/** What was typed, taken apart. */
export interface CommandLine {
	readonly flags: Settings;
	readonly script: string | undefined;
	readonly args: readonly string[];
	/** What is wrong with it already: unknown flags, missing values. */
	readonly problems: readonly string[];
}

/** What is asked for by a command line, and all that lies beside it. */
export interface CommandLineReading {
	readonly request: ResolveRequest;
	/** Of variables that have no effect. */
	readonly warnings: readonly string[];
	/** What the user should know and need not change. */
	readonly notes: readonly string[];
}

export interface CommandLineResolution {
	readonly resolution: Resolution;
	/** Every setting that was given, with its origin. */
	readonly settings: Settings;
	readonly isDryRun: boolean;
	/** What the user should know and need not change. */
	readonly notes: readonly string[];
}

const nameOf: NameOf = (option) => `--${option.name}`;

/** Flags before environment before config file before defaults. */
export async function resolveCommandLine(
	line: CommandLine,
	host: Host,
): Promise<CommandLineResolution> {
	const { request, ...reading } = await readCommandLine(line, host);
	const { settings } = request;
	const resolution = await resolveSettings(request, host);
	const isDryRun = new SettingReader(settings, () => {}, nameOf).value(
		OPTIONS.dryRun,
	);
	const warnings = reading.warnings.map((words) => `warning: ${words}`);
	const notes = [...warnings, ...reading.notes];
	return { resolution, settings, isDryRun, notes };
}

/** Gathers the settings, in this order of precedence: flags, environment, config file. */
export async function readCommandLine(
	line: CommandLine,
	host: Host,
): Promise<CommandLineReading> {
	const environment = settingsFromEnvironment(host.environment);
	const named = mergeSettings([line.flags, environment.settings]).get(
		OPTIONS.config.key,
	);
	const file = await readNamedOrFound(named, host.cwd);
	const request = {
		script: line.script,
		args: line.args,
		cwd: host.cwd,
		environment: host.environment,
		settings: mergeSettings([line.flags, environment.settings, file.settings]),
		login: loginFromEnvironment(host.environment),
		httpToken: httpTokenFromEnvironment(host.environment),
		nameOf,
		problems: [...line.problems, ...file.problems],
	};
	return { request, warnings: environment.warnings, notes: file.notes };
}

/** The settings of the config file that is named, or of the one that lies in the working directory. */
export async function readNamedOrFound(
	named: Setting | undefined,
	cwd: string,
): Promise<SourceReading & { readonly notes: readonly string[] }> {
	const nothing = { settings: new Map(), problems: [], notes: [] };
	if (named !== undefined)
		return { ...(await readNamedFile(named, cwd)), notes: [] };
	const [file, other] = await findConfigFiles(cwd);
	if (file === undefined) return nothing;
	if (other !== undefined) {
		return {
			...nothing,
			problems: [`both ${file} and ${other} are here; name one with --config`],
		};
	}
	return {
		...(await readConfigFile(file, cwd)),
		notes: [`settings are read from ${file}`],
	};
}

/** The settings of the file that a setting names. */
export async function readNamedFile(
	{ text, place }: Setting,
	cwd: string,
): Promise<SourceReading> {
	return text === ""
		? { settings: new Map(), problems: [`${place}: ${EMPTY_VALUE}`] }
		: readConfigFile(text, cwd, place);
}
