import {
	type NumberRange,
	RULE_ACTIONS,
	RULE_CAUSES,
	type Rule,
	type RuleTerm,
} from "../../policies/rules/rule.js";
import { contradictingTerms } from "./contradicting-terms.js";
import { allOf, ok, type Parsed, problem, quote } from "./parsed.js";
import { oneOf, parseDuration, parseName, wholeNumber } from "./scalars.js";
import { parseAnySignal } from "./signals.js";

const ARROW = "=>";
/** A larger one is not possible: the kernel keeps eight bits. */
const LAST_EXIT_CODE = 255;
const TERM_WORDS =
	"exit=3, exit=64-78, signal=SIGKILL, error=/REGEX/i, cause=crash, role=NAME, node=NAME, rank=0,3-5, round=1-3, uptime<30s, uptime>1h or *";

/** Rules, one a line. */
export function parseRules(text: string): Parsed<readonly Rule[]> {
	const lines = text.split("\n").map((line) => line.trim());
	return allOf(lines.map((line, index) => parseRule(line, index + 1)));
}

function parseRule(text: string, number: number): Parsed<Rule> {
	const at = text.lastIndexOf(ARROW);
	if (at === -1) {
		const words = `${quote(text)} has no action; use MATCH => ACTION, for example exit=3 => fail-run`;
		return refused(number, [words]);
	}
	const terms = allOf(splitTerms(text.slice(0, at)).map(parseTerm));
	const action = prefixed(
		"action",
		oneOf(...RULE_ACTIONS)(text.slice(at + ARROW.length).trim()),
	);
	const problems = [terms, action].flatMap((part) =>
		"problems" in part ? part.problems : [],
	);
	if ("value" in terms) problems.push(...contradictingTerms(terms.value));
	if (problems.length === 0 && "value" in terms && "value" in action) {
		return ok({ number, text, terms: terms.value, action: action.value });
	}
	return refused(number, problems);
}

function refused(number: number, problems: readonly string[]): Parsed<never> {
	const [first = "", ...others] = problems;
	return {
		problems: [
			`rule ${number}: ${first}`,
			...others.map((words) => `rule ${number}: ${words}`),
		],
	};
}

/** At commas, except within a regular expression and before a further number of a list. */
function splitTerms(text: string): readonly string[] {
	const terms = [
		...text.matchAll(/(?:^|,)(\s*error\s*=\s*\/(?:\\.|[^/\\])*\/[^,]*|[^,]*)/g),
	].map(([, term = ""]) => term);
	return terms.reduce<string[]>((joined, term) => {
		const isNumber = /^\s*\d+(-\d+)?\s*$/.test(term);
		const before = isNumber ? joined.pop() : undefined;
		joined.push(
			before === undefined ? term.trim() : `${before},${term.trim()}`,
		);
		return joined;
	}, []);
}

function parseTerm(text: string): Parsed<RuleTerm> {
	if (text === "*") return ok({ kind: "any" });
	const [, key = "", sign = "", value = ""] =
		/^([a-z]+)\s*([=<>])\s*(.*)$/s.exec(text) ?? [];
	if (key === "uptime" && sign !== "=" && sign !== "") {
		return parseUptime(sign === "<" ? "<" : ">", value);
	}
	if (sign !== "=") return unknownTerm(text);
	switch (key) {
		case "exit":
		case "rank":
		case "round":
			return parseRanges(key, value);
		case "role":
		case "node":
			return named(key, parseName(value));
		case "signal":
			return named(key, parseAnySignal(value));
		case "cause": {
			const cause = prefixed(key, oneOf(...RULE_CAUSES)(value));
			return "value" in cause
				? ok({ kind: "cause", cause: cause.value })
				: cause;
		}
		case "error":
			return parseError(value);
		default:
			return unknownTerm(text);
	}
}

function unknownTerm(text: string): Parsed<never> {
	return problem(`${quote(text)} is no term; use ${TERM_WORDS}`);
}

function named(
	kind: "signal" | "role" | "node",
	name: Parsed<string>,
): Parsed<RuleTerm> {
	const parsed = prefixed(kind, name);
	return "value" in parsed ? ok({ kind, name: parsed.value }) : parsed;
}

/** Says to what the problem belongs. */
function prefixed<T>(key: string, parsed: Parsed<T>): Parsed<T> {
	if ("value" in parsed) return parsed;
	const [first, ...others] = parsed.problems;
	return { problems: [`${key}: ${first}`, ...others] };
}

function parseRanges(
	kind: "exit" | "rank" | "round",
	text: string,
): Parsed<RuleTerm> {
	const ranges = text.split(",").map(parseRange);
	if (ranges.every((range) => range !== undefined)) {
		const isTooLarge = ({ to }: NumberRange) =>
			kind === "exit" && to > LAST_EXIT_CODE;
		return ranges.some(isTooLarge)
			? problem(
					`exit: ${quote(text)} never holds; exit codes are at most ${LAST_EXIT_CODE}`,
				)
			: ok({ kind, ranges });
	}
	return problem(
		`${kind}: ${quote(text)} is not valid; use numbers and ranges, for example ${kind}=3 or ${kind}=1-3,7`,
	);
}

function parseRange(text: string): NumberRange | undefined {
	const [first = "", last = first, ...more] = text.trim().split("-");
	const from = wholeNumber(first, 0);
	const to = wholeNumber(last, 0);
	if (from === undefined || to === undefined || more.length > 0)
		return undefined;
	return from <= to ? { from, to } : undefined;
}

function parseError(text: string): Parsed<RuleTerm> {
	const [, source, flags = ""] = /^\/(.*)\/([a-z]*)$/s.exec(text) ?? [];
	if (source === undefined || !/^[imsu]*$/.test(flags)) {
		return problem(
			`error: ${quote(text)} is not valid; use a regular expression between slashes, for example error=/out of memory/i`,
		);
	}
	try {
		return ok({ kind: "error", pattern: new RegExp(source, flags) });
	} catch (error) {
		return problem(`error: ${String(error)}`);
	}
}

function parseUptime(sign: "<" | ">", text: string): Parsed<RuleTerm> {
	const duration = prefixed("uptime", parseDuration(text));
	return "value" in duration
		? ok({ kind: "uptime", sign, uptimeMs: duration.value })
		: duration;
}
