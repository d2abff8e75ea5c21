import { EXIT_CODES } from "../../src/base/errors.js";
import type { Parsed } from "../../src/config/parse/parsed.js";
import { parseDuration } from "../../src/config/parse/scalars.js";
import { EMPTY_VALUE, type Settings } from "../../src/config/settings.js";
import { ArgumentParser, type Flag } from "../argument-parser.js";
import { print, say } from "../console.js";
import { COMMANDS, type CommandName } from "./command-table.js";

const HELP_WIDTH = 80;

/** The arguments of a command. */
export interface CommandArguments {
	/** The words that are no flags. */
	readonly operands: readonly string[];
	/** The typed flags: a launch's options by key, the command's own by name. */
	readonly flags: Settings;
}

/** Parses the arguments of a command. Returns the problems, one line each, or that help is asked for. */
export function parseCommand(
	command: CommandName,
	args: readonly string[],
): CommandArguments | "help" | { readonly problems: readonly string[] } {
	const { operand, flags, ignored = [] } = COMMANDS[command];
	const parser = new ArgumentParser();
	for (const flag of [...flags, ...ignored]) parser.add(flag);
	parser.addQuestion("help", "h");
	const operands = parser.parse(args) ?? [];
	if (parser.asksFor === "help") return "help";
	const problems = [...parser.problems];
	for (const { text, place } of parser.given.values()) {
		if (text === "") problems.push(`${place}: ${EMPTY_VALUE}`);
	}
	const [first] = operands;
	if (operand === undefined && first !== undefined) {
		problems.push(`it takes flags only; leave out ${first} (see --help)`);
	}
	return problems.length > 0
		? { problems: problems.map((words) => `${command}: ${words}`) }
		: { operands, flags: parser.given };
}

/**
 * Parses the arguments of a command and runs it. Prints help or problems instead where needed. Returns the exit code.
 * @param about what help says below the synopsis
 */
export async function withArguments(
	command: CommandName,
	about: string,
	args: readonly string[],
	work: (asked: CommandArguments) => number | Promise<number>,
): Promise<number> {
	const parsed = parseCommand(command, args);
	if (parsed === "help") {
		print(`${synopsis(command)}\n\n${about}`);
		return EXIT_CODES.succeeded;
	}
	return "problems" in parsed ? refuse(parsed.problems) : work(parsed);
}

/** Reports the problems of a command line. Returns the exit code. */
export function refuse(problems: readonly string[]): number {
	for (const words of problems) say(words);
	return EXIT_CODES.usage;
}

function synopsis(command: CommandName): string {
	const { operand = "", flags } = COMMANDS[command];
	const start = `Usage: elastic-run ${command}`;
	const lines = [start];
	for (const part of [operand, ...flags.map(shown)].filter(Boolean)) {
		const longer = `${lines.at(-1)} ${part}`;
		if (longer.length > HELP_WIDTH) {
			lines.push(`${" ".repeat(start.length)} ${part}`);
		} else lines.splice(-1, 1, longer);
	}
	return lines.join("\n");
}

function shown({ name, short, argument }: Flag): string {
	const typed = short === undefined ? `--${name}` : `-${short}`;
	return argument === undefined ? `[${typed}]` : `[${typed} ${argument}]`;
}

/** Reads the values of a command's own flags, and collects what is wrong with them. */
export class FlagReader {
	readonly problems: string[] = [];

	constructor(
		private readonly command: CommandName,
		private readonly flags: Settings,
	) {}

	/** The value, or undefined if the flag was not given or its value is invalid. */
	read<T>(name: string, parse: (text: string) => Parsed<T>): T | undefined {
		const given = this.flags.get(name);
		if (given === undefined) return undefined;
		const parsed = parse(given.text);
		if ("value" in parsed) return parsed.value;
		this.refuse(...parsed.problems.map((words) => `${given.place}: ${words}`));
		return undefined;
	}

	refuse(...problems: readonly string[]): void {
		this.problems.push(...problems.map((words) => `${this.command}: ${words}`));
	}
}

/** The meaning of `--no-wait` and `--timeout TIME`. */
export interface Timeout {
	readonly isAwaited: boolean;
	/** In milliseconds; null if not given. */
	readonly timeoutMs: number | null;
}

/** Reads both flags, or says what is wrong with them. */
export function readTimeout(
	command: CommandName,
	flags: Settings,
): Timeout | { readonly problems: readonly string[] } {
	if (flags.has("no-wait")) return { isAwaited: false, timeoutMs: 0 };
	const reader = new FlagReader(command, flags);
	const timeoutMs = reader.read("timeout", parseDuration) ?? null;
	const { problems } = reader;
	return problems.length > 0 ? { problems } : { isAwaited: true, timeoutMs };
}
