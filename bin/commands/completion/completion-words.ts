import type { Option } from "../../../src/config/option.js";
import { ALL_OPTIONS } from "../../../src/config/options.js";
import { COMMAND_HELP, type CommandName } from "../command-help.js";
import { OWN_FLAGS, type RunCommandName } from "../own-flags.js";
import { RUN_FLAGS } from "../run-arguments.js";

/** What a shell may complete of a flag. */
export interface CompletedFlag {
	/** Without dashes. */
	readonly name: string;
	/** One letter. */
	readonly short: string | undefined;
	/** One line. */
	readonly help: string;
	/** Undefined for a switch. */
	readonly value: CompletedValue | undefined;
}

export interface CompletedValue {
	/** Its name in help: "text|json". */
	readonly title: string;
	readonly words: readonly string[];
	readonly paths: "files" | "directories" | "none";
}

/** What a shell may complete on the command line: a command as the first word, flags before the script. */
export interface CompletedCommandLine {
	readonly commands: readonly CompletedCommand[];
	readonly flags: readonly CompletedFlag[];
}

export interface CompletedCommand {
	readonly name: string;
	readonly help: string;
	/** All words that may follow it. */
	readonly words: readonly string[];
}

const LAUNCH_WORDS = [...ALL_OPTIONS, { name: "help" }].map(
	({ name }) => `--${name}`,
);

/** All words that may follow each command. */
const WORDS: Readonly<Record<CommandName, readonly string[]>> = {
	run: LAUNCH_WORDS,
	status: runCommandWords("status"),
	history: runCommandWords("history"),
	logs: runCommandWords("logs"),
	stop: runCommandWords("stop"),
	leave: runCommandWords("leave"),
	clean: runCommandWords("clean"),
	validate: LAUNCH_WORDS,
	doctor: [
		...["--nproc-per-node", "--output", "--rdzv-endpoint"],
		...["--rdzv-conf", "--run-id", "--help"],
	],
	chaos: runCommandWords("chaos"),
	"python-path": ["--wheel", "--help"],
	completion: ["bash", "zsh", "fish"],
	help: Object.keys(COMMAND_HELP),
	version: [],
};

const wordsOf: ReadonlyMap<string, readonly string[]> = new Map(
	Object.entries(WORDS),
);

const COMMANDS: readonly CompletedCommand[] = Object.entries(COMMAND_HELP).map(
	([name, help]) => ({ name, help, words: wordsOf.get(name) ?? [] }),
);

const QUESTIONS: readonly CompletedFlag[] = [
	{ name: "help", short: "h", help: "show help", value: undefined },
	{
		name: "version",
		short: "V",
		help: "show the version",
		value: undefined,
	},
];

function runCommandWords(command: RunCommandName): readonly string[] {
	return [...OWN_FLAGS[command], ...RUN_FLAGS, { name: "help" }].map(
		({ name }) => `--${name}`,
	);
}

export function completedCommandLine(): CompletedCommandLine {
	const options = ALL_OPTIONS.flatMap((option) =>
		[option.name, ...option.aliases].map((name, index) => ({
			name,
			short: index === 0 ? option.short : undefined,
			help: option.help,
			value: completedValue(option),
		})),
	);
	return { commands: COMMANDS, flags: [...options, ...QUESTIONS] };
}

/** Lower-case words in the option table are literal; upper-case words name a kind of value. */
function completedValue({
	argument,
	defaultText,
}: Option<unknown> & { readonly defaultText?: string }):
	| CompletedValue
	| undefined {
	if (argument === undefined) return undefined;
	const alternatives = argument.split("|");
	const candidates =
		alternatives.length > 1 ? [...alternatives, defaultText ?? ""] : [];
	const words = candidates.filter((word) => /^[a-z][a-z-]*$/.test(word));
	return {
		title: argument,
		words: [...new Set(words)],
		paths: alternatives.includes("FILE")
			? "files"
			: alternatives.includes("DIR")
				? "directories"
				: "none",
	};
}
