import { Command, CommanderError, Option as CommanderOption } from "commander";
import { ElasticRunError, EXIT_CODES } from "../src/base/errors.js";
import { nearestName } from "../src/base/nearest-name.js";
import {
	EMPTY_VALUE,
	type Option,
	type Setting,
	SettingReader,
	type Settings,
} from "../src/config/index.js";
import { print } from "./console.js";

const HELP_WIDTH = 80;

/** What was typed, and all that is wrong with it. */
interface TypedLine {
	readonly asksFor: "help" | "version" | "run";
	/** The flags, by the keys of their options. */
	readonly given: ReadonlyMap<string, Setting>;
	readonly problems: readonly string[];
	/** The words that are no flags; undefined if a bad flag makes it unclear which these are. */
	readonly operands: readonly string[] | undefined;
}

export interface CommandArguments {
	readonly word: string;
	/** The words that are no flags. */
	readonly operands: readonly string[];
	/** The typed flags, by the keys of their options. */
	readonly given: Settings;
	/** Reads the values of the command's own flags, which are valid. */
	readonly flags: SettingReader;
}

type Work = (asked: CommandArguments) => number | Promise<number>;

/** A command of commander. It finds all problems instead of the first one, and never ends the process. */
export class CliCommand extends Command {
	private asksFor: TypedLine["asksFor"] = "run";
	private given = new Map<string, Setting>();
	private problems: string[] = [];
	private typed: readonly string[] = [];
	private own: readonly Option<unknown>[] = [];
	private work: Work = () => EXIT_CODES.succeeded;

	/**
	 * @param word undefined: the launch itself, where all words after the first operand are operands, and a value may begin
	 * with a dash
	 * @param operands as help shows them; empty: none
	 */
	constructor(
		private readonly word: string | undefined,
		private readonly operands: string,
		about: string,
	) {
		super(word === undefined ? "elastic-run" : `elastic-run ${word}`);
		this.usage(operands === "" ? "[options]" : `[options] ${operands}`)
			.description(about)
			.helpOption(false)
			.passThroughOptions(word === undefined)
			.configureOutput({
				writeErr: () => {},
				getOutHelpWidth: () => HELP_WIDTH,
				getOutHasColors: () => false,
			})
			.exitOverride();
	}

	/** Accepts the flags that only this command has. They are checked before its work begins. */
	owns(flags: Readonly<Record<string, Option<unknown>>>): this {
		this.own = Object.values(flags);
		return this.takes(...this.own);
	}

	takes(...options: readonly Option<unknown>[]): this {
		for (const option of options) this.accept(option, commanders(option));
		return this;
	}

	/** Accepts options without an effect: a user may give each command the same ones. */
	ignores(...options: readonly Option<unknown>[]): this {
		for (const option of options) {
			this.accept(option, commanders(option).hideHelp());
		}
		return this;
	}

	/** Accepts an option by each of its names, with dashes and with underscores. */
	accept(option: Option<unknown>, shown: CommanderOption): void {
		for (const name of spellings([option.name, ...option.aliases])) {
			const flag =
				name === option.name ? shown : commanders(option, name).hideHelp();
			this.listen(flag, (text = "1") => this.take(option, `--${name}`, text));
		}
	}

	/** Accepts a flag that help does not show. `onTyped` may return what is wrong with it. */
	acceptHidden(
		name: string,
		hasValue: boolean,
		onTyped: (flag: string) => string | undefined,
	): void {
		for (const typed of spellings([name])) {
			const flag = new CommanderOption(
				`--${typed}${hasValue ? " <value>" : ""}`,
			);
			this.listen(flag.hideHelp(), () => {
				const problem = onTyped(`--${typed}`);
				if (problem !== undefined) this.problems.push(problem);
			});
		}
	}

	/** Accepts a question, for which nothing else is done. */
	answers(
		flags: "-h, --help" | "-V, --version",
		help: string,
		heading = "Options:",
	): void {
		const flag = new CommanderOption(flags, help).helpGroup(heading);
		this.listen(flag, () => {
			this.asksFor = flags === "-h, --help" ? "help" : "version";
		});
	}

	/** To be called last: help shows itself at its end. */
	does(work: Work): this {
		this.answers("-h, --help", "show this page");
		this.work = work;
		return this;
	}

	/** Runs the command. Returns the exit code. Throws USAGE with all that is wrong with the arguments. */
	async run(args: readonly string[]): Promise<number> {
		const { word = "" } = this;
		const { asksFor, given, operands = [], ...line } = this.read(args);
		if (asksFor === "help") {
			print(this.helpInformation());
			return EXIT_CODES.succeeded;
		}
		const problems = [...line.problems];
		for (const { text, place } of given.values()) {
			if (text === "") problems.push(`${place}: ${EMPTY_VALUE}`);
		}
		const [first] = operands;
		if (this.operands === "" && first !== undefined) {
			problems.push(`it takes flags only; leave out ${first} (see --help)`);
		}
		const flags = new SettingReader(
			given,
			(words) => problems.push(words),
			({ name }) => `--${name}`,
		);
		// A value that was cut off or is missing is refused already.
		if (problems.length === 0) {
			for (const option of this.own) flags.given(option);
		}
		if (problems.length > 0) throw refusal(word, ...problems);
		return this.work({ word, operands, given, flags });
	}

	/** Reads a command line, and finds all that is wrong with its flags. */
	read(args: readonly string[]): TypedLine {
		this.asksFor = "run";
		this.given = new Map();
		this.problems = [];
		this.typed = args;
		const operands = this.operandsOf(args);
		return {
			asksFor: this.asksFor,
			given: this.given,
			problems: this.problems,
			operands,
		};
	}

	private operandsOf(args: readonly string[]): readonly string[] | undefined {
		let rest = [...args];
		let isClear = true;
		for (;;) {
			const parsed = this.parseKnown(rest);
			const [flag, ...others] = parsed?.unknown ?? [];
			if (flag === undefined) return isClear ? parsed?.operands : undefined;
			const whole = this.completed(flag);
			if (whole !== undefined) {
				rest = [whole, ...others];
				continue;
			}
			const meant = this.refuseUnknown(flag);
			isClear &&= meant !== undefined;
			const hasValue = meant?.required && !flag.includes("=");
			rest = hasValue ? others.slice(1) : others;
		}
	}

	private parseKnown(args: string[]) {
		try {
			return this.parseOptions(args);
		} catch (error) {
			if (!(error instanceof CommanderError)) throw error;
			// Only the last word can lack its value.
			const typed = args.at(-1) ?? "";
			const flag = this.options.find(
				({ long, short }) => typed === long || typed === short,
			);
			const value = flag?.flags.replace(/^[^<]*/, "") ?? "";
			this.problems.push(
				`${typed}: its value is missing; use ${typed} ${value}`,
			);
			return undefined;
		}
	}

	/** The flag whose name only this one begins; undefined where there is none, or more than one. */
	private completed(typed: string): string | undefined {
		const [, start = "", value = ""] = /^--([^=]+)(=.*)?$/s.exec(typed) ?? [];
		if (start === "") return undefined;
		const names = this.options.map((flag) => flag.name());
		const begun = names.filter((name) => name.startsWith(start));
		const same = new Set(begun.map((name) => name.replaceAll("_", "-")));
		const [name] = begun;
		return same.size === 1 && name !== start ? `--${name}${value}` : undefined;
	}

	/** Reports an unknown flag; returns the flag that was probably meant, if any. */
	private refuseUnknown(typed: string): CommanderOption | undefined {
		const name = typed.replace(/=.*$/s, "");
		const visible = this.options.filter((flag) => !flag.hidden);
		const word = name.replace(/^-+/, "");
		const near = nearestName(
			word,
			visible.map((flag) => flag.name()),
		);
		const meant = visible.find((flag) => flag.name() === near);
		if (meant !== undefined && meant.long === name) {
			this.problems.push(`${name} takes no value; use ${name} alone`);
		} else if (name === "-") {
			this.problems.push("a flag of one letter takes no =; use its name");
		} else {
			const hint =
				meant === undefined ? "see --help" : `did you mean ${meant.long}?`;
			this.problems.push(`unknown option ${name}; ${hint}`);
		}
		return meant;
	}

	private take(option: Option<unknown>, place: string, text: string): void {
		const isFlag =
			/^-./s.test(text) && !this.typed.includes(`${place}=${text}`);
		if (this.word !== undefined && isFlag) {
			this.problems.push(
				`${place}: its value is missing or begins with a dash; use ${place}=VALUE`,
			);
		}
		const { key, repeats } = option;
		const before = repeats ? this.given.get(key) : undefined;
		const whole = before === undefined ? text : `${before.text}\n${text}`;
		this.given.set(key, { text: whole, place, origin: "flag" });
	}

	private listen(flag: CommanderOption, take: (text?: string) => void): void {
		this.addOption(flag);
		this.on(`option:${flag.name()}`, take);
	}
}

/** The option as commander has it, under this name. */
export function commanders(
	{ name, short, argument, help }: Option<unknown>,
	typed = name,
): CommanderOption {
	const letter = short === undefined || typed !== name ? "" : `-${short}, `;
	const value = argument === undefined ? "" : ` <${argument}>`;
	return new CommanderOption(`${letter}--${typed}${value}`, help);
}

/** Each name with dashes, then with underscores. */
function spellings(names: readonly string[]): string[] {
	return names.flatMap((name) => [
		...new Set([name, name.replaceAll("-", "_")]),
	]);
}

/** The error that refuses the arguments of a command, one line a problem. */
export function refusal(
	word: string,
	...problems: readonly string[]
): ElasticRunError {
	const lines = problems.map((words) => `${word}: ${words}`);
	return new ElasticRunError("USAGE", lines.join("\n"));
}
