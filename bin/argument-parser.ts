import { Command, CommanderError, Option } from "commander";
import { nearestName } from "../src/base/nearest-name.js";
import type { Setting } from "../src/config/settings.js";

const HELP_WIDTH = 80;

/** A flag of a command; an option of the launch is one. */
export interface Flag {
	/** With dashes, without the leading ones. */
	readonly name: string;
	readonly aliases?: readonly string[];
	/** One letter. */
	readonly short?: string | undefined;
	/** Its value's name in help; undefined for a switch. */
	readonly argument?: string | undefined;
	/** The key of its setting, if that is not the name. */
	readonly key?: string;
	/** Each further value is a further line. */
	readonly repeats?: boolean;
}

/** What a page of help says of a flag. */
export interface HelpLine {
	readonly text?: string;
	readonly heading?: string;
	readonly defaultText?: string | undefined;
}

/** The parser of one command's arguments. It finds all problems, and never ends the process. */
export class ArgumentParser {
	asksFor: "help" | "version" | "run" = "run";
	/** The flags that were typed, by key. */
	readonly given = new Map<string, Setting>();
	readonly problems: string[] = [];
	private args: readonly string[] = [];
	private readonly program = new Command("elastic-run");

	/** @param isLaunch all words after the first operand are operands, and a value may begin with a dash */
	constructor(private readonly isLaunch = false) {
		this.program
			.helpOption(false)
			.passThroughOptions(isLaunch)
			.exitOverride()
			.configureOutput({
				writeErr: () => {},
				getOutHelpWidth: () => HELP_WIDTH,
				getOutHasColors: () => false,
			});
	}

	help(usage: string, description: string): string {
		return this.program.usage(usage).description(description).helpInformation();
	}

	/** Accepts a flag by each of its names. */
	add(flag: Flag, { text, heading, defaultText }: HelpLine = {}): void {
		const { name, aliases = [], short, argument, key = name } = flag;
		const before = () =>
			flag.repeats && this.given.has(key)
				? `${this.given.get(key)?.text}\n`
				: "";
		const letter = short === undefined ? "" : `-${short}, `;
		const value = argument === undefined ? "" : ` <${argument}>`;
		const shown = new Option(`${letter}--${name}${value}`, text);
		shown.helpGroup(heading ?? "");
		if (defaultText !== undefined) shown.default(defaultText, defaultText);
		const take =
			(typed: string) =>
			(text = "1") => {
				this.refuseDash(`--${typed}`, text);
				const place = `--${typed}`;
				const whole = before() + text;
				this.given.set(key, { text: whole, place, origin: "flag" });
			};
		this.accept(shown, take(name));
		for (const typed of spellings([name, ...aliases]).slice(1)) {
			this.accept(new Option(`--${typed}${value}`).hideHelp(), take(typed));
		}
	}

	/** Accepts a flag that help does not show. */
	addHidden({ name, argument }: Flag, onTyped: (typed: string) => void): void {
		const value = argument === undefined ? "" : ` <${argument}>`;
		for (const typed of spellings([name])) {
			this.accept(new Option(`--${typed}${value}`).hideHelp(), () =>
				onTyped(`--${typed}`),
			);
		}
	}

	addQuestion(
		question: "help" | "version",
		short: string,
		line: HelpLine = {},
	) {
		const flag = new Option(`-${short}, --${question}`, line.text);
		this.accept(flag.helpGroup(line.heading ?? ""), () => {
			this.asksFor = question;
		});
	}

	/** The words that are no flags; undefined if a bad flag makes it unclear which these are. */
	parse(args: readonly string[]): readonly string[] | undefined {
		this.args = args;
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
	private refuseUnknown(typed: string): Option | undefined {
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
		} else if (name === "-") {
			this.problems.push("a flag of one letter takes no =; use its name");
		} else {
			const hint =
				meant === undefined ? "see --help" : `did you mean ${meant.long}?`;
			this.problems.push(`unknown option ${name}; ${hint}`);
		}
		return meant;
	}

	/** What follows a flag and begins with a dash is more likely the next flag than a value. */
	private refuseDash(typed: string, text: string): void {
		const isFlag = /^-./s.test(text) && !this.args.includes(`${typed}=${text}`);
		if (this.isLaunch || !isFlag) return;
		this.problems.push(
			`${typed}: its value is missing or begins with a dash; use ${typed}=VALUE`,
		);
	}

	private accept(flag: Option, take: (text?: string) => void): void {
		this.program.addOption(flag);
		this.program.on(`option:${flag.name()}`, take);
	}
}

/** Each name with dashes, then with underscores. */
function spellings(names: readonly string[]): string[] {
	return names.flatMap((name) => [
		...new Set([name, name.replaceAll("-", "_")]),
	]);
}
