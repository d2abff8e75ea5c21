import { parseArgs } from "node:util";
import { OPTIONS } from "../../src/agent/configuration/options.js";
import { parseName } from "../../src/agent/configuration/parse/scalars.js";
import type {
	Setting,
	Settings,
} from "../../src/agent/configuration/settings.js";
import { messageOf } from "../../src/errors.js";

/** The flags of commands that look for a run: those of the run itself. */
const RUN_FLAGS = [
	OPTIONS.rdzvBackend,
	OPTIONS.rdzvEndpoint,
	OPTIONS.rdzvConf,
	OPTIONS.config,
	OPTIONS.output,
];

/** What follows the word of a command that looks for a run. */
export interface RunArguments {
	/** Undefined where none is named. */
	readonly runId: string | undefined;
	readonly flags: Settings;
}

/** Takes `[RUN_ID] [flags]` apart; what is wrong with it, one line each, or that help is asked for. */
export function parseRunArguments(
	command: string,
	args: readonly string[],
): RunArguments | "help" | { readonly problems: readonly string[] } {
	const refused = (words: string) => ({
		problems: [`${command}: ${words} (see --help)`],
	});
	try {
		const { values, positionals } = parseArgs({
			args: [...args],
			options: {
				...Object.fromEntries(
					RUN_FLAGS.flatMap(({ name }) =>
						spellings(name).map((word) => [word, { type: "string" as const }]),
					),
				),
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
		return { runId, flags: settingsOf(new Map(Object.entries(values))) };
	} catch (error) {
		return refused(messageOf(error));
	}
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
