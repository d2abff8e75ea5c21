import { type Parsed, parseDuration, parseSwitch } from "./parse/scalars.js";

/** A heading of `--help`. */
type OptionGroup =
	| "Workers"
	| "Rendezvous"
	| "Restarts"
	| "Nodes"
	| "Steps"
	| "Notices"
	| "Logs and output"
	| "Observability"
	| "Command";

/** How a value may be written in a config file or a `LaunchConfig`, besides its text on the command line. */
type ValueForm =
	| "number"
	| "boolean"
	/** A list, for `a,b`. */
	| "list"
	/** A list of texts that may hold commas: one a line. */
	| "lines"
	/** A map, for `k=v,…` or `k:v,…`. */
	| "map";

interface OptionText {
	readonly aliases: readonly string[];
	/** One letter. */
	readonly short: string | undefined;
	/** The name of the value in `--help`; undefined for a switch, which takes none. */
	readonly argument: string | undefined;
	readonly help: string;
	/** The default for `--help`, in words if it is computed. */
	readonly defaultHelp: string | undefined;
	readonly forms: readonly ValueForm[];
	/** The flag may be given several times: each value is a line of the setting. */
	readonly repeats: boolean;
	/** The sign between key and value in the text form of a map. */
	readonly pairSign: "=" | ":";
}

/** One setting: all about a flag, its variable and its key. */
export interface Option<T> extends OptionText {
	/** In camelCase, as in a config file and in `LaunchConfig`. */
	readonly key: string;
	/** With dashes, as on the command line, but without the leading ones. */
	readonly name: string;
	readonly group: OptionGroup;
	/** The key, then those of the aliases. */
	readonly keys: readonly string[];
	/** The environment variable, then those of the aliases. */
	readonly variables: readonly [string, ...string[]];
	/** @param origin as in `Setting` */
	readonly parse: (text: string, origin: string) => Parsed<T>;
}

/** A setting whose default is written in its own notation. */
export interface OptionWithDefault<T> extends Option<T> {
	readonly defaultText: string;
	readonly defaultValue: T;
}

type OptionInit<T> = Partial<OptionText> &
	Pick<Option<T>, "help" | "parse"> & { readonly defaultText?: string };

type OptionOf<Init> =
	Init extends Pick<Option<infer T>, "parse">
		? Init extends { readonly defaultText: string }
			? OptionWithDefault<T>
			: Option<T>
		: never;

/** The options of one group. Each has its flag's name in camelCase as its key. */
export function optionsOf<
	const Inits extends Readonly<Record<string, OptionInit<unknown>>>,
>(
	group: OptionGroup,
	inits: Inits,
): { readonly [Key in keyof Inits]: OptionOf<Inits[Key]> };
export function optionsOf(
	group: OptionGroup,
	inits: Readonly<Record<string, OptionInit<unknown>>>,
) {
	return Object.fromEntries(
		Object.entries(inits).map(([key, init]) => [key, option(group, key, init)]),
	);
}

export function time(defaultText: string, help: string) {
	return {
		argument: "TIME",
		forms: ["number"],
		defaultText,
		help,
		parse: parseDuration,
	} as const;
}

/** A switch that is off by default. */
export function onOff(
	help: string,
	names: Partial<Pick<OptionText, "aliases" | "short">> = {},
) {
	return {
		...names,
		forms: ["boolean"],
		defaultText: "0",
		help,
		parse: parseSwitch,
	} as const;
}

function option(
	group: OptionGroup,
	key: string,
	init: OptionInit<unknown>,
): Option<unknown> {
	const { aliases = [], defaultText } = init;
	const name = key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
	return {
		aliases,
		short: undefined,
		argument: undefined,
		defaultHelp: defaultText,
		forms: [],
		repeats: false,
		pairSign: "=",
		...init,
		...(defaultText === undefined
			? {}
			: { defaultValue: defaultOf(name, init, defaultText) }),
		key,
		name,
		group,
		keys: [key, ...aliases.map(toCamelCase)],
		variables: [variableOf(name), ...aliases.map(variableOf)],
	};
}

function defaultOf(
	name: string,
	{ parse }: OptionInit<unknown>,
	text: string,
): unknown {
	const parsed = parse(text, "default");
	if ("value" in parsed) return parsed.value;
	throw new TypeError(`--${name}: its default is not valid`);
}

/** `nproc-per-node` and `nproc_per_node` as `nprocPerNode`. */
export function toCamelCase(name: string): string {
	return name.replaceAll(/[-_]+([A-Za-z0-9])/g, (_, letter: string) =>
		letter.toUpperCase(),
	);
}

/** `nproc-per-node` as `ELASTIC_RUN_NPROC_PER_NODE`. */
function variableOf(name: string): string {
	return `ELASTIC_RUN_${name.replaceAll("-", "_").toUpperCase()}`;
}
