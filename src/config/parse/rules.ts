import { constants } from "node:os";
import {
	type NumberRange,
	RULE_ACTIONS,
	RULE_CAUSES,
	type Rule,
	type RuleFacts,
	type RuleTerm,
} from "../../policies/index.js";
import {
	allOf,
	mapParsed,
	ok,
	oneOf,
	type Parsed,
	parseCount,
	parseDuration,
	parseExitCode,
	parseName,
	problem,
	quote,
	wholeNumber,
} from "./scalars.js";
import { parseAnySignal } from "./signals.js";

const parseCause = oneOf(...RULE_CAUSES);
const parseAction = oneOf(...RULE_ACTIONS);

const ARROW = "=>";
/** A larger one is not possible: the kernel keeps eight bits. */
const LAST_EXIT_CODE = 255;
const TERM_WORDS =
	"exit=3, exit=64-78, signal=SIGKILL, error=/REGEX/i, cause=crash, role=NAME, node=NAME, rank=0,3-5, round=1-3, uptime<30s, uptime>1h or *";

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
		parseAction(text.slice(at + ARROW.length).trim()),
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
		case "cause":
			return mapParsed(prefixed(key, parseCause(value)), (cause) => ({
				kind: "cause",
				cause,
			}));
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
	return mapParsed(prefixed(kind, name), (value) => ({ kind, name: value }));
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
	return mapParsed(prefixed("uptime", parseDuration(text)), (uptimeMs) => ({
		kind: "uptime",
		sign,
		uptimeMs,
	}));
}

/** A failure of a worker that has run for a minute, with exit code 1. */
const USUAL: RuleFacts = {
	...{ exit: 1, signal: null, error: "", cause: "crash" },
	...{ role: "default", node: "node", rank: 0, round: 1, uptimeMs: 60_000 },
};

const FACTS: Readonly<
	Record<string, (text: string) => Parsed<Partial<RuleFacts>>>
> = {
	exit: (text) => mapParsed(parseExitCode(text), (exit) => ({ exit })),
	rank: (text) => mapParsed(parseCount(text), (rank) => ({ rank })),
	round: (text) => mapParsed(parseCount(text), (round) => ({ round })),
	role: (text) => mapParsed(parseName(text), (role) => ({ role })),
	node: (text) => mapParsed(parseName(text), (node) => ({ node })),
	signal: (text) =>
		mapParsed(parseAnySignal(text), (signal) => ({
			signal,
			exit: 128 + constants.signals[signal],
		})),
	cause: (text) => mapParsed(parseCause(text), (cause) => ({ cause })),
	uptime: (text) =>
		mapParsed(parseDuration(text), (uptimeMs) => ({ uptimeMs })),
	error: (error) => ok({ error }),
};

/** A failure as `validate --explain` gets it: `exit=137,role=trainer,uptime=12s`. What is not given is as usual. */
export function parseFacts(text: string): Parsed<RuleFacts> {
	const parts = text.match(/error=.*|[^,]+/gs) ?? [];
	const facts = allOf(parts.map((part) => parseFact(part.trim())));
	return mapParsed(facts, (given) => {
		let all = USUAL;
		for (const one of given) all = { ...all, ...one };
		return all;
	});
}

function parseFact(text: string): Parsed<Partial<RuleFacts>> {
	const [, key = "", value = ""] = /^([a-z]+)=(.*)$/s.exec(text) ?? [];
	const parse = Object.hasOwn(FACTS, key) ? FACTS[key] : undefined;
	if (parse !== undefined) return prefixed(key, parse(value));
	return problem(
		`${quote(text)} is no fact; use exit=137, signal=SIGKILL, cause=crash, role=NAME, node=NAME, rank=0, round=1, uptime=12s or, last, error=TEXT`,
	);
}

/** The kinds of which two terms of a rule cannot both hold, in words, one a kind: all terms of a rule must. */
function contradictingTerms(terms: readonly RuleTerm[]): readonly string[] {
	const pairs = terms.flatMap((term, index) =>
		terms.slice(index + 1).map((later) => [term, later] as const),
	);
	const kinds = pairs
		.filter(([one, other]) => excludes(one, other))
		.map(([{ kind }]) => kind);
	return [...new Set(kinds)].map((kind) =>
		kind === "uptime"
			? "uptime: no time is both shorter and longer; write two rules"
			: `${kind}: its terms never hold together; ${
					isNumeric(kind)
						? `put all values into one, for example ${kind}=3,4`
						: "write a rule for each"
				}`,
	);
}

function isNumeric(kind: RuleTerm["kind"]): boolean {
	return kind === "exit" || kind === "rank" || kind === "round";
}

function excludes(one: RuleTerm, other: RuleTerm): boolean {
	if ("ranges" in one && "ranges" in other) {
		return one.kind === other.kind && !overlap(one.ranges, other.ranges);
	}
	if ("name" in one && "name" in other) {
		return one.kind === other.kind && one.name !== other.name;
	}
	if (one.kind === "cause" && other.kind === "cause") {
		return one.cause !== other.cause;
	}
	if (one.kind !== "uptime" || other.kind !== "uptime") return false;
	const [shorter, longer] = one.sign === "<" ? [one, other] : [other, one];
	const isBoth = shorter.sign === "<" && longer.sign === ">";
	return isBoth && shorter.uptimeMs <= longer.uptimeMs;
}

function overlap(
	ones: readonly NumberRange[],
	others: readonly NumberRange[],
): boolean {
	return ones.some((one) =>
		others.some((other) => one.from <= other.to && other.from <= one.to),
	);
}
