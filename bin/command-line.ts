import type { Option } from "../src/config/option.js";
import { ALL_OPTIONS, COMMON_OPTIONS } from "../src/config/options.js";
import type { CommandLine } from "../src/config/sources.js";
import { FOREIGN_FLAGS, ignoredFlagsWarning } from "../src/config/torchrun.js";
import { ArgumentParser, type HelpLine } from "./argument-parser.js";
import { commandList, EXPLAIN } from "./commands/command-table.js";

export interface ParsedArguments extends CommandLine {
	readonly asksFor: "help" | "version" | "run";
	/** A failure whose consequence is asked for: `validate` only. */
	readonly explain: string | undefined;
	/** Hints about what the user may have meant. */
	readonly notes: readonly string[];
	/** Warns of flags without effect. */
	readonly warning: string | undefined;
}

/**
 * Parses a command line. Everything after the script belongs to the script.
 * @param isLaunch it has to name a command, and cannot ask for an explanation
 */
export function parseArguments(
	args: readonly string[],
	isLaunch = true,
): ParsedArguments {
	const parser = launchParser();
	if (!isLaunch) parser.add(EXPLAIN);
	const ignored = new Set<string>();
	for (const { instead, ...flag } of FOREIGN_FLAGS) {
		parser.addHidden(flag, (typed) => {
			if (instead === undefined) ignored.add(typed);
			else parser.problems.push(`${typed} has no meaning here: ${instead}`);
		});
	}
	const words = parser.parse(args);
	const [script, ...scriptArgs] = words ?? [];
	if (words?.length === 0 && isLaunch) {
		parser.problems.push(
			"no command given; give a script or a command after the options (see --help)",
		);
	}
	const explain = parser.given.get(EXPLAIN.name)?.text;
	parser.given.delete(EXPLAIN.name);
	return {
		...{ asksFor: parser.asksFor, explain },
		flags: parser.given,
		script,
		args: scriptArgs,
		problems: parser.problems,
		notes: script === undefined ? [] : flagsAfterScript(script, scriptArgs),
		warning: ignoredFlagsWarning([...ignored]),
	};
}

export function helpText(): string {
	const page = launchParser().help(
		"[options] <script or command> [its arguments …]",
		"Starts the workers of a distributed job on this machine, supervises them, and\n" +
			"restarts them when one fails or nodes come and go. Use it as torchrun: the same\n" +
			"command on each machine. Everything after the script belongs to the script.\n\n" +
			"Commands, as the first word (elastic-run help COMMAND tells more):\n" +
			commandList(),
	);
	return page + EXAMPLES;
}

function launchParser(): ArgumentParser {
	const parser = new ArgumentParser(true);
	for (const option of new Set([...COMMON_OPTIONS, ...ALL_OPTIONS])) {
		parser.add(option, helpLine(option));
	}
	const heading = "Command:";
	parser.addQuestion("help", "h", { text: "show this page", heading });
	parser.addQuestion("version", "V", { text: "show the version", heading });
	return parser;
}

function helpLine(option: Option<unknown>): HelpLine {
	const also = option.aliases.map((alias) => `; also --${alias}`).join("");
	const isCommon = COMMON_OPTIONS.includes(option);
	return {
		text: `${option.help}${also}`,
		heading: isCommon ? "Common options:" : `${option.group}:`,
		defaultText: option.defaultHelp,
	};
}

/** Names that scripts often use for their own options. */
const COMMON_NAMES: readonly string[] = [
	"config",
	"dry-run",
	"log-dir",
	"output",
	"role",
];

/** Notes about launcher flags after the script, which go to the script. */
function flagsAfterScript(script: string, args: readonly string[]): string[] {
	if (!/\.([cm]?js|ts|py)$/.test(script)) return [];
	const end = args.indexOf("--");
	const candidates = end < 0 ? args : args.slice(0, end);
	return candidates.flatMap((word, index) => {
		const name = word
			.replace(/^--/, "")
			.replace(/=.*$/s, "")
			.replaceAll("_", "-");
		if (!word.startsWith("--") || COMMON_NAMES.includes(name)) return [];
		const option = ALL_OPTIONS.find(
			(known) => known.name === name || known.aliases.includes(name),
		);
		if (option === undefined) return [];
		const value =
			option.argument === undefined || word.includes("=")
				? []
				: args.slice(index + 1, index + 2);
		return [
			`"${[word, ...value].join(" ")}" follows the script and is passed to it; put it before ${script} if it is meant for elastic-run`,
		];
	});
}

/** Commands that work in a shell as they are, without any file. */
const EXAMPLES = `
Examples:
  elastic-run --nproc-per-node 4 sh -c 'echo "worker $RANK of $WORLD_SIZE"'
  elastic-run --nproc-per-node 2 node -e 'console.log(process.env.MASTER_PORT)'
  elastic-run --nproc-per-node 2 --dry-run --output json sh -c 'exit 0'

Precedence: flag, environment variable, config file, default.
Durations: seconds, or 500ms, 30s, 10m, 1h.
`;
