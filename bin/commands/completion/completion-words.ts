import type { Option } from "../../../src/config/option.js";
import { ALL_OPTIONS } from "../../../src/config/options.js";
import { COMMANDS } from "../command-table.js";

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

const QUESTIONS: readonly CompletedFlag[] = [
	{ name: "help", short: "h", help: "show help", value: undefined },
	{
		name: "version",
		short: "V",
		help: "show the version",
		value: undefined,
	},
];

export function completedCommandLine(): CompletedCommandLine {
	const options = ALL_OPTIONS.flatMap((option) =>
		[option.name, ...option.aliases].map((name, index) => ({
			name,
			short: index === 0 ? option.short : undefined,
			help: option.help,
			value: completedValue(option),
		})),
	);
	const commands = Object.entries(COMMANDS).map(
		([name, { help, flags, words }]) => {
			const typed = [...flags, { name: "help" }].map(
				(flag) => `--${flag.name}`,
			);
			return { name, help, words: words ?? typed };
		},
	);
	return { commands, flags: [...options, ...QUESTIONS] };
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
