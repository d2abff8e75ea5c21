import { resolve } from "node:path";
import { findConfigFiles, readConfigFile } from "./config-file.js";
import {
	HTTP_TOKEN_VARIABLE,
	loginFromEnvironment,
	settingsFromEnvironment,
	settingsFromTorchrun,
} from "./environment.js";
import type { Host } from "./host.js";
import type { Option } from "./option.js";
import { OPTIONS } from "./options.js";
import type { ResolveRequest } from "./resolve.js";
import {
	EMPTY_VALUE,
	type Setting,
	type SettingReader,
	type Settings,
	type SourceReading,
} from "./settings.js";

/** The parsed command line. */
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

/** A command line with all other sources. */
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
	const environment = settingsFromEnvironment(host.environment);
	const torchrun = settingsFromTorchrun(host.environment);
	const ours = mergeSettings([flags, environment.settings]);
	const file = await readNamedOrFound(ours.get(OPTIONS.config.key), host.cwd);
	return {
		settings: mergeSettings([ours, torchrun.settings, file.settings]),
		problems: file.problems,
		warnings: [...environment.warnings, ...torchrun.warnings],
		notes: file.notes,
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

/** The settings of the file named by a setting. */
export async function readNamedFile(
	{ text, place }: Setting,
	cwd: string,
): Promise<SourceReading> {
	return text === ""
		? { settings: new Map(), problems: [`${place}: ${EMPTY_VALUE}`] }
		: readConfigFile(text, resolve(cwd, text), place);
}

/** A setting, and whether it has a value that excludes the other side of its pair. */
interface Side {
	readonly option: Option<unknown>;
	readonly holds: (settings: Settings) => boolean;
}

/** Says that the left side excludes the right one, of which it gets name and value. */
type Words = (right: string) => string;

const standalone = value(OPTIONS.standalone, (isOn) => isOn);
const memory = value(OPTIONS.rdzvBackend, (backend) => backend === "memory");
const inStore = value(OPTIONS.rdzvBackend, (backend) => backend !== "memory");
const inEtcd = value(OPTIONS.rdzvBackend, (backend) => backend === "etcd");
const severalNodes = value(OPTIONS.nnodes, ({ max }) => max > 1);
const endpoint = given(OPTIONS.rdzvEndpoint);
const masterAddr = given(OPTIONS.masterAddr);
const masterPort = given(OPTIONS.masterPort);
const module = value(OPTIONS.module, (isOn) => isOn);
const asItIs = value(OPTIONS.noNode, (isOn) => isOn);

/** One refusal is enough where both say the same. */
const inMemory: Side = {
	option: memory.option,
	holds: (settings) => memory.holds(settings) && !standalone.holds(settings),
};

const noStore: Words = (right) =>
	`one node without a store cannot be combined with ${right}; leave one of them out`;

/**
 * Pairs that exclude each other. Of two sources the later one gives way. From one source both are refused if there are
 * words; else the left one holds, or the reader of both refuses them.
 */
const EXCLUSIONS: readonly (readonly [Side, Side, Words?])[] = [
	[standalone, severalNodes, noStore],
	[standalone, endpoint, noStore],
	[standalone, inEtcd, noStore],
	[standalone, inStore],
	[standalone, masterAddr],
	[standalone, masterPort],
	[inMemory, severalNodes, noStore],
	[inMemory, endpoint, noStore],
	[inMemory, masterAddr],
	[inMemory, masterPort],
	[masterAddr, endpoint],
	[masterAddr, inEtcd],
	[module, asItIs],
];

/**
 * Takes each option from the first source that has it, unless an earlier source excludes it: `--standalone` holds
 * whatever endpoint the environment names.
 */
export function mergeSettings(sources: readonly Settings[]): Settings {
	const merged = new Map<string, Setting>();
	for (const source of sources) {
		const added = [...source].filter(
			([key, setting]) =>
				!merged.has(key) && !isRuledOut(merged, new Map([[key, setting]])),
		);
		for (const [key, setting] of added) merged.set(key, setting);
	}
	return merged;
}

function isRuledOut(earlier: Settings, one: Settings): boolean {
	return EXCLUSIONS.some(
		([left, right]) =>
			(left.holds(earlier) && right.holds(one)) ||
			(right.holds(earlier) && left.holds(one)),
	);
}

/** Refuses what excludes each other within one source. */
export function refuseExclusions(reader: SettingReader): void {
	for (const [left, right, words] of EXCLUSIONS) {
		if (words && [left, right].every((side) => side.holds(reader.settings))) {
			const { option } = right;
			const other = `${reader.placeOf(option)} ${reader.textOf(option)}`;
			reader.refuse(left.option, words(other));
		}
	}
}

function given(option: Option<unknown>): Side {
	return { option, holds: (settings) => settings.has(option.key) };
}

/** An invalid value is reported elsewhere; it excludes nothing. */
function value<T>(option: Option<T>, isExclusive: (value: T) => boolean): Side {
	const holds = (settings: Settings) => {
		const setting = settings.get(option.key);
		if (setting === undefined) return false;
		const parsed = option.parse(setting.text, setting.origin);
		return "value" in parsed && isExclusive(parsed.value);
	};
	return { option, holds };
}
