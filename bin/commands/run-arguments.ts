import { parseArgs } from "node:util";
import { OPTIONS } from "../../src/config/options.js";
import { parseName } from "../../src/config/parse/scalars.js";
import {
	EMPTY_VALUE,
	type Setting,
	type Settings,
} from "../../src/config/settings.js";
import { flagProblem } from "./flag-problem.js";
import { OWN_FLAGS, type OwnFlag, type RunCommandName } from "./own-flags.js";

/** The flags of commands that look for a run; a launch has the same ones. */
export const RUN_FLAGS = [
	OPTIONS.rdzvBackend,
	OPTIONS.rdzvEndpoint,
	OPTIONS.rdzvConf,
	OPTIONS.config,
	OPTIONS.output,
];

/** The arguments of a command that looks for a run. */
export interface RunArguments {
	/** Undefined if none is named. */
	readonly runId: string | undefined;
	readonly flags: Settings;
	/** The given flags of this command by name: the value, or "" for a switch. */
	readonly own: ReadonlyMap<string, string>;
}

/** Parses `[RUN_ID] [flags]`. Returns the problems, one line each, or that help is asked for. */
export function parseRunArguments(
	command: RunCommandName,
	args: readonly string[],
): RunArguments | "help" | { readonly problems: readonly string[] } {
	const refused = (words: string) => ({
		problems: [`${command}: ${words} (see --help)`],
	});
	const ownFlags: readonly OwnFlag[] = OWN_FLAGS[command];
	const names = [...RUN_FLAGS, ...ownFlags].map(({ name }) => name);
	try {
		const { values, positionals } = parseArgs({
			args: [...args],
			options: {
				...Object.fromEntries(
					RUN_FLAGS.flatMap(({ name }) =>
						spellings(name).map((word) => [word, { type: "string" as const }]),
					),
				),
				...Object.fromEntries(ownFlags.map(ownOption)),
				help: { type: "boolean", short: "h" },
			},
			allowPositionals: true,
		});
		if (values.help === true) return "help";
		const [runId, ...others] = positionals;
		if (others.length > 0) return refused("name one run only");
		if (runId !== undefined) {
			const name = parseName(runId);
			if ("problems" in name) return refused(name.problems.join("; "));
		}
		const given = new Map<string, unknown>(Object.entries(values));
		const empty = [...given].find(([, value]) => value === "");
		if (empty !== undefined) return refused(`--${empty[0]}: ${EMPTY_VALUE}`);
		return {
			runId,
			flags: settingsOf(given),
			own: ownValues(ownFlags, given),
		};
	} catch (error) {
		return refused(flagProblem(error, names));
	}
}

function ownOption({ name, short, argument }: OwnFlag) {
	const type = argument === undefined ? "boolean" : "string";
	return [name, { type, ...(short === undefined ? {} : { short }) }] as const;
}

function ownValues(
	ownFlags: readonly OwnFlag[],
	values: ReadonlyMap<string, unknown>,
): ReadonlyMap<string, string> {
	const given = ownFlags.flatMap(({ name }): [string, string][] => {
		const value = values.get(name);
		if (value === undefined) return [];
		return [[name, typeof value === "string" ? value : ""]];
	});
	return new Map(given);
}

function settingsOf(values: ReadonlyMap<string, unknown>): Settings {
	const settings = RUN_FLAGS.flatMap(({ key, name }): [string, Setting][] => {
		const text = spellings(name)
			.map((word) => values.get(word))
			.find((value) => typeof value === "string");
		return typeof text === "string"
			? [[key, { text, place: `--${name}`, origin: "flag" }]]
			: [];
	});
	return new Map(settings);
}

/** With dashes, and with underscores. */
function spellings(name: string): readonly string[] {
	return [...new Set([name, name.replaceAll("-", "_")])];
}
