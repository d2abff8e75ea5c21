import { describe, expect, it } from "vitest";
import { parseFacts, parseRules } from "../../../src/config/parse/rules.js";
import {
	decisionOf,
	firstMatch,
	type Rule,
	type RuleFacts,
} from "../../../src/policies/rules/rule.js";
import type { RestartDecision } from "../../../src/policies/strategy.js";

const FACTS: RuleFacts = {
	...{ exit: 137, signal: "SIGKILL", error: "CUDA out of memory", rank: 4 },
	...{ cause: "crash", role: "trainer", node: "node-b", round: 2 },
	uptimeMs: 30_000,
};

describe("J11 a term", () => {
	it.each([
		["exit=137", true],
		["exit=3", false],
		["exit=64-78,137", true],
		["exit=64-140,exit=137,error=/of/,error=/CUDA/", true],
		["uptime>29s,uptime<31s,role=trainer,role=trainer", true],
		["signal=SIGKILL", true],
		["signal=kill", true],
		["error = /of, memory|CUDA/, exit=137", true],
		["signal=SIGTERM", false],
		["error=/out of memory/", true],
		["error=/OUT OF MEMORY/i", true],
		["error=/memory, or/", false],
		["cause=crash", true],
		["cause=hang", false],
		["role=trainer", true],
		["node=node-b", true],
		["rank=0,3-5", true],
		["rank=0,3", false],
		["round=1-3", true],
		["round=3", false],
		["uptime<30s", false],
		["uptime<31s", true],
		["uptime>29s", true],
		["*", true],
		["exit=137, role=reader", false],
		["error=/a, b => c/, *", false],
	])("%s: %s", (match, holds) => {
		const rules = rulesOf(`${match} => fail-run`);
		expect(firstMatch(rules, FACTS)).toEqual(holds ? rules[0] : undefined);
	});
});

it("J11 a signal of two names is that of exits", () => {
	const rules = rulesOf("signal=SIGIOT => fail-run");
	expect(firstMatch(rules, { ...FACTS, signal: "SIGABRT" })).toBe(rules[0]);
});

it("J11 the first match decides", () => {
	const rules = rulesOf(
		"exit=1 => fail-run\nexit=137 => restart\n* => stop-node",
	);
	expect(firstMatch(rules, FACTS)).toMatchObject({ number: 2 });
	expect(firstMatch(rules, { ...FACTS, exit: 2 })).toMatchObject({ number: 3 });
	expect(firstMatch([], FACTS)).toBeUndefined();
});

describe("J12 an action", () => {
	const soft: RestartDecision = {
		...{ workers: "replace-failed", charge: "worker", reason: "policy" },
	};
	it.each<[string, RestartDecision, object]>([
		["restart", soft, { workers: "replace-failed", charge: "worker" }],
		[
			"restart",
			{ ...soft, workers: "fail-run" },
			{ workers: "restart", charge: "run" },
		],
		[
			"restart-uncounted",
			soft,
			{ workers: "replace-failed", charge: "nothing" },
		],
		[
			"restart-uncounted",
			{ ...soft, workers: "leave" },
			{ workers: "restart", charge: "nothing" },
		],
		[
			"replace-node",
			soft,
			{ workers: "leave", charge: "nothing", departure: "replaced" },
		],
		["stop-node", soft, { workers: "leave", charge: "nothing", exitCode: 1 }],
		["fail-run", soft, { workers: "fail-run", charge: "nothing" }],
	])("%s", (action, policy, decision) => {
		const [rule] = rulesOf(`* => ${action}`);
		const verdict = decisionOf(rule as Rule, () => policy);
		const words = `rule 1 (* => ${action})`;
		expect(verdict).toEqual({ ...decision, reason: words, rule: words });
	});
});

describe("J11 a mistake is named with what is allowed, and all at once:", () => {
	it.each([
		["exit=3", /rule 1: "exit=3" has no action; use MATCH => ACTION/],
		["exit=x => restart", /rule 1: exit: "x" is not valid; use numbers/],
		[
			"exit=3 => stop",
			/rule 1: action: "stop" is unknown; use restart, .*fail-run/,
		],
		["exit=3 =>", /rule 1: action: "" is unknown/],
		["exit=300 => restart", /exit: "300" never holds; .* at most 255/],
		["exit=3, => restart", /"" is no term/],
		["signal=9 => restart", /"9" is not a signal; .*did you mean SIGKILL/],
		["error=/a/g => restart", /error: "\/a\/g" is not valid/],
		["cause=crsh => restart", /cause: "crsh" is unknown.*did you mean crash/],
		["error=/(/ => restart", /error: .*regular expression/],
		["error=oom => restart", /error: "oom" is not valid.*between slashes/],
		["uptime<x => restart", /uptime: "x" is not a duration/],
		["uptime=3 => restart", /"uptime=3" is no term/],
		["role=a b => restart", /role: "a b" is not valid/],
		["exit=3,exit=4-6 => restart", /exit: .*never hold.*exit=3,4$/],
		["rank=1,role=a,rank=2,3 => restart", /rule 1: rank: .*never hold/],
		["uptime>1h,uptime<30s => restart", /uptime: .*write two rules/],
	])("%s", (text, words) => {
		expect(problemsOf(text).join("\n")).toMatch(words);
	});

	it("of all rules and terms", () => {
		const problems = problemsOf("exit=x,cause=y => z\n* => restart\n* => q");
		expect(problems.map((words) => words.slice(0, 7))).toEqual([
			...["rule 1:", "rule 1:", "rule 1:", "rule 3:"],
		]);
	});
});

describe("the facts of a failure", () => {
	it("are as usual where nothing is said", () => {
		expect(parseFacts("exit=137,role=trainer,uptime=12s")).toMatchObject({
			value: { exit: 137, role: "trainer", uptimeMs: 12_000, cause: "crash" },
		});
	});

	it("of a signal have its exit code", () => {
		expect(parseFacts("signal=SIGKILL,error=a, b=c")).toMatchObject({
			value: { exit: 137, signal: "SIGKILL", error: "a, b=c" },
		});
	});

	it("are refused by name", () => {
		expect(parseFacts("exit=x,exit=999,hue=3")).toMatchObject({
			problems: [/^exit: "x"/, /^exit: "999"/, /"hue=3" is no fact/].map(
				(words) => expect.stringMatching(words),
			),
		});
	});
});

function rulesOf(text: string): readonly Rule[] {
	const parsed = parseRules(text);
	if (!("value" in parsed)) throw new Error(parsed.problems.join("\n"));
	return parsed.value;
}

function problemsOf(text: string): readonly string[] {
	const parsed = parseRules(text);
	if ("value" in parsed) expect.unreachable();
	return parsed.problems;
}
