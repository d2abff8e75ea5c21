import { NAME, NAME_WORDS } from "../../base/name.js";
import { didYouMean } from "../../base/nearest-name.js";

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000 };
const DURATION = /^(\d+(?:\.\d+)?)(ms|s|m|h)?$/;
const LONGEST_DURATION_MS = 365 * 24 * UNIT_MS.h;

/** A run id, node id or role: safe as a file name and as part of a key. */
export function parseName(text: string): Parsed<string> {
	return NAME.test(text) ? ok(text) : invalid(text, NAME_WORDS);
}

/** Any text without control characters, which would break a line or a path. */
export function parseText(text: string): Parsed<string> {
	return hasControlCharacter(text)
		? invalid(text, "a text without control characters")
		: ok(text);
}

export function parseSwitch(text: string): Parsed<boolean> {
	const word = text.toLowerCase();
	if (word === "1" || word === "true") return ok(true);
	if (word === "0" || word === "false") return ok(false);
	return invalid(text, "1 or 0 (true or false)");
}

/** A whole number of at least `least`, or `undefined`. */
export function wholeNumber(text: string, least: number): number | undefined {
	if (!/^\d{1,15}$/.test(text)) return undefined;
	const value = Number(text);
	return value >= least ? value : undefined;
}

export function parseCount(text: string): Parsed<number> {
	const count = wholeNumber(text, 0);
	return count === undefined
		? invalid(text, "a whole number of at least 0")
		: ok(count);
}

/** An exit code that is no success. */
export function parseExitCode(text: string): Parsed<number> {
	const code = wholeNumber(text, 1);
	return code === undefined || code > 255
		? invalid(text, "a whole number from 1 to 255")
		: ok(code);
}

/** The local rank that reads stdin, or `none`. */
export function parseStdin(text: string): Parsed<number | "none"> {
	if (text === "none") return ok("none");
	const rank = wholeNumber(text, 0);
	return rank === undefined
		? invalid(text, "the local rank of a worker, or none")
		: ok(rank);
}

/** Seconds, or a number with a unit; returns milliseconds. */
export function parseDuration(text: string): Parsed<number> {
	const [, digits, unit = "s"] = DURATION.exec(text) ?? [];
	if (digits === undefined || !isUnit(unit)) {
		return problem(
			`${quote(text)} is not a duration; use seconds, or for example 500ms, 30s, 10m, 1h`,
		);
	}
	const durationMs = Math.round(Number(digits) * UNIT_MS[unit]);
	return durationMs <= LONGEST_DURATION_MS
		? ok(durationMs)
		: problem(`${quote(text)} is too long; use at most 8760h (one year)`);
}

function isUnit(unit: string): unit is keyof typeof UNIT_MS {
	return Object.hasOwn(UNIT_MS, unit);
}

/** A parser for a choice of words. */
export function oneOf<const T extends string>(
	...words: readonly T[]
): (text: string) => Parsed<T> {
	return (text) => {
		const found = words.find((word) => word === text);
		if (found !== undefined) return ok(found);
		return problem(
			`${quote(text)} is unknown; use ${inWords(words)}${didYouMean(text, words)}`,
		);
	};
}

/** "a, b or c". */
export function inWords(words: readonly string[]): string {
	const last = words.at(-1) ?? "";
	const others = words.slice(0, -1);
	return others.length === 0 ? last : `${others.join(", ")} or ${last}`;
}

/** "30s", "500ms": a duration in the notation of the command line. */
export function durationInWords(durationMs: number): string {
	return durationMs % UNIT_MS.s === 0
		? `${durationMs / UNIT_MS.s}s`
		: `${durationMs}ms`;
}

function hasControlCharacter(text: string): boolean {
	return [...text].some((letter) => letter < " " || letter === "\u007f");
}

/** A parsed value, or what is wrong with the text and how to fix it. */
export type Parsed<T> =
	| { readonly value: T }
	| { readonly problems: readonly [string, ...string[]] };

export function ok<T>(value: T): Parsed<T> {
	return { value };
}

export function problem(words: string): Parsed<never> {
	return { problems: [words] };
}

/** The usual refusal: the text and the allowed values. */
export function invalid(text: string, allowed: string): Parsed<never> {
	return problem(`${quote(text)} is not valid; use ${allowed}`);
}

/** A text in quotation marks, with visible control characters. */
export function quote(text: string): string {
	return JSON.stringify(text);
}

/** All values, or all problems, in order. */
export function allOf<T>(parts: readonly Parsed<T>[]): Parsed<readonly T[]> {
	const values: T[] = [];
	const problems: string[] = [];
	for (const part of parts) {
		if ("value" in part) values.push(part.value);
		else problems.push(...part.problems);
	}
	const [first, ...others] = problems;
	return first === undefined ? ok(values) : { problems: [first, ...others] };
}

export function mapParsed<T, U>(
	parsed: Parsed<T>,
	change: (value: T) => U,
): Parsed<U> {
	return "value" in parsed ? ok(change(parsed.value)) : parsed;
}
