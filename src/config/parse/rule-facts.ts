import { constants } from "node:os";
import { RULE_CAUSES, type RuleFacts } from "../../policies/rules/rule.js";
import { ok, type Parsed, quote } from "./parsed.js";
import {
	oneOf,
	parseCount,
	parseDuration,
	parseExitCode,
	parseName,
} from "./scalars.js";
import { parseAnySignal } from "./signals.js";

type Facts = { -readonly [Key in keyof RuleFacts]: RuleFacts[Key] };

/** A failure of a worker that has run for a minute, with exit code 1. */
const USUAL: RuleFacts = {
	...{ exit: 1, signal: null, error: "", cause: "crash" },
	...{ role: "default", node: "node", rank: 0, round: 1, uptimeMs: 60_000 },
};

/** A failure as `validate --explain` is told it: `exit=137,role=trainer,uptime=12s`. What is not told is as usual. */
export function parseFacts(text: string): Parsed<RuleFacts> {
	const facts: Facts = { ...USUAL };
	const parts = text.match(/error=.*|[^,]+/gs) ?? [];
	const problems = parts.flatMap((part) => take(facts, part.trim()));
	const [first, ...others] = problems;
	return first === undefined ? ok(facts) : { problems: [first, ...others] };
}

function take(facts: Facts, part: string): readonly string[] {
	const [, key = "", value = ""] = /^([a-z]+)=(.*)$/s.exec(part) ?? [];
	const keep = <T>(parsed: Parsed<T>, set: (value: T) => void) => {
		if ("problems" in parsed) {
			return parsed.problems.map((words) => `${key}: ${words}`);
		}
		set(parsed.value);
		return [];
	};
	switch (key) {
		case "exit":
			return keep(parseExitCode(value), (code) => {
				facts.exit = code;
			});
		case "rank":
		case "round":
			return keep(parseCount(value), (count) => {
				facts[key] = count;
			});
		case "role":
		case "node":
			return keep(parseName(value), (name) => {
				facts[key] = name;
			});
		case "signal":
			return keep(parseAnySignal(value), (signal) => {
				facts.signal = signal;
				facts.exit = 128 + constants.signals[signal];
			});
		case "cause":
			return keep(oneOf(...RULE_CAUSES)(value), (cause) => {
				facts.cause = cause;
			});
		case "uptime":
			return keep(parseDuration(value), (uptimeMs) => {
				facts.uptimeMs = uptimeMs;
			});
		case "error":
			facts.error = value;
			return [];
		default:
			return [
				`${quote(part)} is no fact; use exit=137, signal=SIGKILL, cause=crash, role=NAME, node=NAME, rank=0, round=1, uptime=12s or, last, error=TEXT`,
			];
	}
}
