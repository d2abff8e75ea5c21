import { Command, CommanderError, Option as Flag } from "commander";
import { nearestName } from "../src/base/nearest-name.js";
import type { Option } from "../src/config/option.js";
import { ALL_OPTIONS, COMMON_OPTIONS } from "../src/config/options.js";
import type { CommandLine } from "../src/config/resolve-command-line.js";
import type { Setting } from "../src/config/settings.js";
import {
	FOREIGN_FLAGS,
	type ForeignFlag,
	ignoredFlagsWarning,
} from "../src/config/torchrun-flags.js";
import { commandList } from "./commands/command-help.js";
import { flagsAfterScript } from "./flags-after-script.js";
import { EXAMPLES } from "./help-examples.js";

const HELP_WIDTH = 80;

export interface ParsedArguments extends CommandLine {
	readonly asksFor: "help" | "version" | "run";
	/** Hints about what the user may have meant. */
	readonly notes: readonly string[];
	/** Warns of flags without effect. */
	readonly warning: string | undefined;
}

/** Parses a command line, which may have to name a command. Everything after the script belongs to the script. */
export function parseArguments(
	args: readonly string[],
	mustName = true,
): ParsedArguments {
	const parser = new ArgumentParser();
	const words = parser.parse(args);
	const [script, ...scriptArgs] = words ?? [];
	if (words?.length === 0 && mustName) {
		parser.problems.push(
			"no command given; give a script or a command after the options (see --help)",
		);
	}
	return {
		asksFor: parser.asksFor,
		flags: parser.flags,
		script,
		args: scriptArgs,
		problems: parser.problems,
		notes: script === undefined ? [] : flagsAfterScript(script, scriptArgs),
		warning: ignoredFlagsWarning([...parser.ignored]),
	};
}

export function helpText(): string {
	return new ArgumentParser().help();
}

class ArgumentParser {
	asksFor: ParsedArguments["asksFor"] = "run";
	readonly flags = new Map<string, Setting>();
	readonly problems: string[] = [];
	/** torchrun's flags without a meaning here, as typed. */
	readonly ignored = new Set<string>();
	private readonly program = emptyProgram();

	constructor() {
		for (const option of new Set([...COMMON_OPTIONS, ...ALL_OPTIONS])) {
			this.addOption(option);
		}
		for (const flag of FOREIGN_FLAGS) this.addForeign(flag);
		this.addQuestion("-h, --help", "show this page", "help");
		this.addQuestion("-V, --version", "show the version", "version");
	}

	help(): string {
		return this.program.helpInformation() + EXAMPLES;
	}

	/** The script and its arguments; undefined if a bad flag makes it unclear which word is the script. */
	parse(args: readonly string[]): readonly string[] | undefined {
		let rest = [...args];
		let isClear = true;
		for (;;) {
			const parsed = this.parseOptions(rest);
			const [flag, ...others] = parsed?.unknown ?? [];
			if (flag === undefined) return isClear ? parsed?.operands : undefined;
			const meant = this.refuseUnknown(flag);
			isClear &&= meant !== undefined;
			const hasValue = meant?.required && !flag.includes("=");
			rest = hasValue ? others.slice(1) : others;
		}
	}

	private parseOptions(
		args: string[],
	): { operands: string[]; unknown: string[] } | undefined {
		try {
			return this.program.parseOptions(args);
		} catch (error) {
			if (!(error instanceof CommanderError)) throw error;
			// Only the last word can lack its value.
			const typed = args.at(-1) ?? "";
			const flag = this.program.options.find(
				({ long, short }) => typed === long || typed === short,
			);
			const value = flag?.flags.replace(/^[^<]*/, "") ?? "";
			this.problems.push(
				`${typed}: its value is missing; use ${typed} ${value}`,
			);
			return undefined;
		}
	}

	/** Reports an unknown flag; returns the flag that was probably meant, if any. */
	private refuseUnknown(typed: string): Flag | undefined {
		const name = typed.replace(/=.*$/s, "");
		const visible = this.program.options.filter((flag) => !flag.hidden);
		const word = name.replace(/^-+/, "");
		const near = nearestName(
			word,
			visible.map((flag) => flag.name()),
		);
		const meant = visible.find((flag) => flag.name() === near);
		if (meant !== undefined && meant.long === name) {
			this.problems.push(`${name} takes no value; use ${name} alone`);
		} else {
			const hint =
				meant === undefined ? "see --help" : `did you mean ${meant.long}?`;
			this.problems.push(`unknown option ${name}; ${hint}`);
		}
		return meant;
	}

	private addOption(option: Option<unknown>): void {
		const argument =
			option.argument === undefined ? "" : ` <${option.argument}>`;
		const short = option.short === undefined ? "" : `-${option.short}, `;
		const also = option.aliases.map((alias) => `; also --${alias}`).join("");
		const shown = new Flag(
			`${short}--${option.name}${argument}`,
			`${option.help}${also}`,
		).helpGroup(
			COMMON_OPTIONS.includes(option) ? "Common options:" : `${option.group}:`,
		);
		if (option.defaultHelp !== undefined) {
			shown.default(option.defaultHelp, option.defaultHelp);
		}
		const take = (name: string) => (value: string | null) => {
			const setting = {
				text: value ?? "1",
				place: `--${name}`,
				origin: "flag",
			};
			this.flags.set(option.key, setting);
		};
		this.add(shown, take(option.name));
		for (const name of spellings([option.name, ...option.aliases]).slice(1)) {
			this.add(new Flag(`--${name}${argument}`).hideHelp(), take(name));
		}
	}

	private addForeign({ name, takesValue, instead }: ForeignFlag): void {
		const argument = takesValue ? " <VALUE>" : "";
		for (const spelling of spellings([name])) {
			this.add(new Flag(`--${spelling}${argument}`).hideHelp(), () => {
				if (instead === undefined) this.ignored.add(`--${spelling}`);
				else {
					this.problems.push(`--${spelling} has no meaning here: ${instead}`);
				}
			});
		}
	}

	private addQuestion(
		flags: string,
		help: string,
		question: "help" | "version",
	): void {
		this.add(new Flag(flags, help).helpGroup("Command:"), () => {
			this.asksFor = question;
		});
	}

	private add(flag: Flag, take: (value: string | null) => void): void {
		this.program.addOption(flag);
		this.program.on(`option:${flag.name()}`, take);
	}
}

function emptyProgram(): Command {
	return new Command("elastic-run")
		.usage("[options] <script or command> [its arguments …]")
		.description(
			"Starts the workers of a distributed job on this machine, supervises them, and\n" +
				"restarts them when one fails or nodes come and go. Use it as torchrun: the same\n" +
				"command on each machine. Everything after the script belongs to the script.\n\n" +
				"Commands, as the first word (elastic-run help COMMAND tells more):\n" +
				commandList(),
		)
		.helpOption(false)
		.passThroughOptions()
		.exitOverride()
		.configureOutput({
			writeErr: () => {},
			getOutHelpWidth: () => HELP_WIDTH,
			getOutHasColors: () => false,
		});
}

/** Each name with dashes, then with underscores. */
function spellings(names: readonly string[]): string[] {
	return names.flatMap((name) => [
		...new Set([name, name.replaceAll("-", "_")]),
	]);
}
