import type { Option } from "../../../src/agent/configuration/option.js";
import { ALL_OPTIONS } from "../../../src/agent/configuration/options.js";
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
	/** What help calls it: "text|json". */
	readonly title: string;
	readonly words: readonly string[];
	readonly paths: "files" | "directories" | "none";
}

/** What a shell may complete of the command line: a command as its first word, flags before the script. */
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

const COMMANDS: readonly CompletedCommand[] = [
	{
		name: "status",
		help: "show where a run stands, or which runs there are",
		words: runCommandWords("status"),
	},
	{
		name: "history",
		help: "show a run's rounds, their causes and how long each step took",
		words: runCommandWords("history"),
	},
	{
		name: "stop",
		help: "end a run on all of its nodes",
		words: runCommandWords("stop"),
	},
	{
		name: "leave",
		help: "make this machine's node leave its run",
		words: runCommandWords("leave"),
	},
	{
		name: "logs",
		help: "show the logs that this machine has of a run, merged by time",
		words: runCommandWords("logs"),
	},
	{
		name: "clean",
		help: "list, or remove, what runs that are over have left behind",
		words: runCommandWords("clean"),
	},
	{
		name: "chaos",
		help: "make faults among this machine's processes of a run",
		words: runCommandWords("chaos"),
	},
	{
		name: "validate",
		help: "check settings as a launch would, and show what would be in force",
		words: [...ALL_OPTIONS, { name: "help" }].map(({ name }) => `--${name}`),
	},
	{
		name: "doctor",
		help: "look at what this machine lacks for running workers",
		words: [
			"--nproc-per-node",
			"--output",
			"--rdzv-endpoint",
			"--rdzv-conf",
			"--run-id",
			"--help",
		],
	},
	{
		name: "python-path",
		help: "print where Python finds the runtime library",
		words: [],
	},
	{
		name: "completion",
		help: "print a script that completes the command line in a shell",
		words: ["bash", "zsh", "fish"],
	},
];

const QUESTIONS: readonly CompletedFlag[] = [
	{ name: "help", short: "h", help: "show help", value: undefined },
	{
		name: "version",
		short: undefined,
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

/** Words in small letters stand for themselves in the option table, those in capitals for what is meant. */
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
