import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { INITIAL_STATE } from "../../../src/agent/machine/state.js";
import { parseRules } from "../../../src/config/parse/rules.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import { contextAt, exited, seen } from "./soft-agent.js";

/** What an agent with these rules does when its worker 0 fails so. */
function failing(input: AgentInput, ...lines: readonly string[]) {
	const rules = parseRules(lines.join("\n"));
	if ("problems" in rules) throw new Error(rules.problems.join());
	const policy = new HardRestartPolicyStrategy();
	const context = { ...contextAt(1_000, policy), rules: rules.value };
	let state = transition(INITIAL_STATE, seen(0), context).state;
	const started = { kind: "worker-started", localRank: 0, pid: 100 } as const;
	const inputs = input.kind === "worker-not-started" ? [] : [started];
	for (const one of [seen(1), ...inputs, input]) {
		state = transition(state, one, context).state;
	}
	const { phase, failure, leaving } = state;
	return {
		...{ phase, leaving },
		rule: failure?.failure.rule?.slice(0, 6),
		failsRun: failure?.failsRun,
		fingerprint: failure?.failure.fingerprint,
	};
}

const hung = (cause: "hang" | "slow" | "start", failsRun = false) =>
	({
		...{ kind: "worker-hung", round: 1, localRank: 0, pid: 100, cause },
		...{
			description: "hung for 9 s at train.py:4 in f",
			evidence: [],
			stillMs: 9,
			step: 4,
			failsRun,
		},
	}) satisfies AgentInput;

const notStarted = (code: string): AgentInput => ({
	...{ kind: "worker-not-started", localRank: 0 },
	problem: { code, message: `spawn: ${code}` },
});

/** By their causes; the last one takes what is left. */
const RULES = ["hang", "slow", "start", "crash"].map(
	(cause) => `cause=${cause} => fail-run`,
);

describe("rules by cause", () => {
	it.each<[string, AgentInput, string]>([
		["makes no step", hung("hang"), "rule 1"],
		["makes none but computes", hung("slow"), "rule 2"],
		["has not made its first step", hung("start"), "rule 3"],
		["cannot be started for an unknown reason", notStarted("EIO"), "rule 3"],
		["ends", exited(0, 3), "rule 4"],
	])("J11 know a worker that %s", (_, input, rule) => {
		expect(failing(input, ...RULES)).toMatchObject({ rule, failsRun: 1 });
	});
});

describe("a worker that no retry on this node can start", () => {
	const START = "cause=start => replace-node";
	const REPLACED = { phase: "STOPPING", leaving: { departure: "replaced" } };

	it.each([
		"ENOENT",
		"EACCES",
		"ENOEXEC",
		"E2BIG",
		"ENOMEM",
		"UNPREPARED",
	])("J11 after %s is decided on by a rule that says cause=start", (code) => {
		expect(failing(notStarted(code), START)).toMatchObject(REPLACED);
	});

	it("J11 is no matter of rules that do not say so", () => {
		const rules = ["* => restart-uncounted", "exit=127 => restart"];
		const missing = failing(notStarted("ENOENT"), ...rules);
		expect(missing).toMatchObject({ failsRun: 127, rule: undefined });
		expect(failing(notStarted("ENOENT"), ...rules, START)).toMatchObject(
			REPLACED,
		);
	});

	it("J11 fails the run with the code of a missing command, by a rule too", () => {
		expect(
			failing(notStarted("ENOENT"), "cause=start => fail-run"),
		).toMatchObject({ failsRun: 127, rule: "rule 1" });
	});

	it("J11 is not a worker that --on-hang fail ends", () => {
		expect(failing(hung("start", true), START)).toMatchObject({
			...{ failsRun: 1, rule: undefined },
		});
	});
});

describe("rules by what a worker said", () => {
	const RULE = "error=/disk quota/ => fail-run";
	const ended = { ...exited(0, 1), lastLines: "disk quota exceeded" };

	it("J11 hold for the message of its error file, not for its stderr beside that", () => {
		const error = { message: "IOError: disk quota exceeded" };
		const about = { ...exited(0, 1), error };
		expect(failing(about, RULE).rule).toBe("rule 1");
		const other = { ...ended, error: { message: "KeyError: 3" } };
		expect(failing(other, RULE).rule).toBeUndefined();
	});

	it("J11 hold for the last lines of its stderr where it left no error file", () => {
		expect(failing(ended, RULE).rule).toBe("rule 1");
		expect(failing(exited(0, 1), RULE).rule).toBeUndefined();
	});
});
