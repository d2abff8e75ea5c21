import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type {
	AgentInput,
	TransitionContext,
} from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	deadlineOf,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import type { Notice } from "../../../src/model/notice.js";
import {
	HardRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../../src/policies/built-in.js";
import type { Outcome } from "../../../src/rendezvous/records/records.js";
import {
	contextAt,
	exited,
	left,
	PAUSED,
	PAUSING,
	RUNNING,
	STOP,
	seen,
	TIME,
} from "./soft-agent.js";

/** The contexts' wall time is 5 at any time of the steady clock: a deadline is so many milliseconds away. */
const noticed = (
	inMs: number | undefined,
	change: Partial<Notice> = {},
): AgentInput => ({
	kind: "noticed",
	notice: {
		source: "aws",
		reason: "spot interruption",
		deadline: inMs === undefined ? undefined : 5 + inMs,
		...change,
	},
});
const withdrawn: AgentInput = {
	kind: "notice-withdrawn",
	source: "aws",
	reason: "the event was cancelled",
};
const ready = (localRank: number): AgentInput => ({
	kind: "worker-ready",
	localRank,
});
const gone = (localRank: number): AgentInput => ({
	kind: "worker-gone",
	localRank,
});
const HARD = new HardRestartPolicyStrategy();
const SOFT = new SoftRestartPolicyStrategy();

const STOPPED: Outcome = {
	...{ result: "stopped", exitCode: 5, reason: "elastic-run stop", root: null },
};

type Step = readonly [now: number, input: AgentInput];

/** Feeds inputs to an agent that runs round 1, each at its time; effects of all. */
function told(...steps: readonly Step[]) {
	const joined = [seen(0), seen(1)].map((input): Step => [1_000, input]);
	return toldFrom(toldFrom(INITIAL_STATE, ...joined).state, ...steps);
}

function toldFrom(from: AgentState, ...steps: readonly Step[]) {
	return toldUnder(HARD, from, ...steps);
}

function toldUnder(
	policy: TransitionContext["policy"],
	from: AgentState,
	...steps: readonly Step[]
) {
	let state = from;
	const effects: unknown[] = [];
	for (const [now, input] of steps) {
		const after = transition(state, input, contextAt(now, policy));
		state = after.state;
		effects.push(...after.effects);
	}
	return { state, effects, intent: intentOf(state) };
}
const SIGTERM = { kind: "terminate", localRanks: [0, 1] };

describe("a notice", () => {
	it("is told to the workers and written, and the round goes on", () => {
		const { state, effects, intent } = told([1_000, noticed(120_000)]);
		expect(effects).toEqual([
			{
				...{ kind: "tell-notice", localRanks: [0, 1], isFirst: true },
				...{ source: "aws", reason: "spot interruption", deadline: 120_005 },
			},
		]);
		expect(intent).toMatchObject({
			state: "running",
			notice: { source: "aws", deadline: 120_005 },
		});
		expect(deadlineOf(state)).toBe(91_000);
	});

	it.each([
		["the shutdown time-out before the deadline", 120_000, 91_000],
		["at half of what is left, if that is less", 20_000, 11_000],
		["at half of 10 s, if the deadline is unknown", undefined, 6_000],
		["at once, if the deadline is over", -5_000, 1_000],
	])("brings SIGTERM %s", (_, inMs, termAt) => {
		const { state } = told([1_000, noticed(inMs)]);
		expect(deadlineOf(state)).toBe(termAt);
		const due = told([1_000, noticed(inMs)], [termAt, TIME]);
		expect(due.effects.at(-1)).toEqual(SIGTERM);
		expect(due.intent).toMatchObject({
			...{ state: "leaving", isAsked: true, failure: null },
			cause: expect.stringContaining("notice from aws: spot interruption"),
		});
		expect(due.state).toMatchObject({ leaving: { exitCode: 143 } });
	});

	it("brings SIGTERM at once where all workers are ready to end", () => {
		const notice = [1_000, noticed(120_000)] as const;
		expect(told(notice, [2_000, ready(0)]).effects).toHaveLength(1);
		const both = told(notice, [2_000, ready(0)], [2_000, ready(1)]);
		expect(both.effects.at(-1)).toEqual(SIGTERM);
	});

	it("leaves with 75 at the end of a lifetime", () => {
		const notice = noticed(0, { source: "lifetime" });
		const { state } = told([1_000, notice], [1_000, TIME]);
		expect(state).toMatchObject({ leaving: { exitCode: 75 } });
	});

	it("is shortened by an earlier deadline, and not lengthened by a later one of another source", () => {
		const { state, effects } = told(
			[1_000, noticed(120_000)],
			[1_000, noticed(20_000, { source: "command" })],
			[1_000, noticed(500_000, { source: "slurm" })],
		);
		expect(deadlineOf(state)).toBe(11_000);
		expect(effects).toMatchObject([{ isFirst: true }, { isFirst: false }]);
	});
});

describe("a worker that ends after a notice", () => {
	const notice = [1_000, noticed(120_000)] as const;

	it("is no incident: the node leaves, and the others have their time", () => {
		const { effects, intent, state } = told(notice, [2_000, exited(0, 9)]);
		expect(intent).toMatchObject({ state: "leaving", failure: null });
		expect(effects).toHaveLength(1);
		expect(deadlineOf(state)).toBe(17_000);
		const done = told(notice, [2_000, exited(0, 9)], [3_000, ready(1)]);
		expect(done.effects.at(-1)).toMatchObject({ kind: "terminate" });
	});

	it("with 0, having read the notice, has not finished the run's work", () => {
		const read: AgentInput = { kind: "worker-noticed", localRank: 0 };
		const { intent } = told(notice, [2_000, read], [2_000, exited(0, 0)]);
		expect(intent).toMatchObject({ state: "leaving" });
	});

	it("with 0, without having read it, has finished", () => {
		const { state } = told(
			notice,
			...([exited(0, 0), exited(1, 0), gone(0), gone(1)] as const).map(
				(input) => [2_000, input] as const,
			),
		);
		expect(state.phase).toBe("FINISHED");
	});
});

describe("a notice and the round's end", () => {
	it("leaves at once for the others, and holds the workers that are not ready", () => {
		const held = [
			[1_000, noticed(50_000)],
			[2_000, left(1)],
		] as const;
		const { effects, intent, state } = told(...held);
		expect(intent).toMatchObject({ state: "leaving" });
		expect(effects).toHaveLength(1);
		// No longer than a node that leaves: half of the shutdown time-out, then SIGTERM.
		expect(deadlineOf(state)).toBe(17_000);
		const due = told(...held, [17_000, TIME]);
		expect(due.effects.at(-1)).toEqual(SIGTERM);
		expect(deadlineOf(due.state)).toBe(32_000);
		const sooner = noticed(4_000, { source: "slurm" });
		const shortened = told(...held, [3_000, sooner]);
		expect(deadlineOf(shortened.state)).toBe(5_000);
		const asked = told(...held, [3_000, STOP]);
		expect(asked.effects.at(-1)).toEqual(SIGTERM);
	});

	it("takes part in another round if there is time, and tells its workers there", () => {
		const { effects, state } = told(
			[1_000, noticed(3_600_000)],
			[2_000, left(1)],
			...[gone(0), gone(1)].map((input) => [2_000, input] as const),
			[2_000, seen(2)],
		);
		expect(state.phase).toBe("RUNNING");
		expect(effects.slice(-2)).toMatchObject([
			{ kind: "start-workers" },
			{ kind: "tell-notice", localRanks: [0, 1], isFirst: false },
		]);
	});

	it("makes a node leave when too little time is left for another round, not when that has begun", () => {
		const notice = [1_000, noticed(100_000)] as const;
		const over = [2_000, left(1)] as const;
		const ended = [gone(0), gone(1)].map((one) => [3_000, one] as const);
		const waits = told(notice, over, ...ended);
		expect(waits.intent).toMatchObject({ state: "ready" });
		expect(deadlineOf(waits.state)).toBe(11_001);
		const late = toldFrom(waits.state, [11_001, TIME]);
		expect(late.intent).toMatchObject({ state: "leaving" });
		// Its workers took longer to end.
		const slow = told(notice, over);
		expect(deadlineOf(slow.state)).toBe(11_001);
		const hurried = toldFrom(slow.state, [11_001, TIME]);
		expect(hurried.intent).toMatchObject({ state: "leaving" });
		const unheard = [gone(0), gone(1)].map((one) => [20_000, one] as const);
		expect(toldFrom(slow.state, ...unheard).intent).toMatchObject({
			state: "leaving",
		});
	});

	it("lets a node that has finished begin no other round", () => {
		const all = [exited(0, 0), exited(1, 0), gone(0), gone(1)];
		const finished = all.map((input) => [1_000, input] as const);
		const notice = [2_000, noticed(50_000)] as const;
		const { state } = told(...finished, notice, [3_000, left(1)]);
		expect(state).toMatchObject({ phase: "CLOSED", ending: { exitCode: 143 } });
		const long = [2_000, noticed(3_600_000)] as const;
		const again = told(...finished, long, [3_000, left(1)]);
		expect(again.intent).toMatchObject({ state: "ready", claim: 2 });
	});

	it("makes a node leave that is between two rounds, or in none", () => {
		const { intent } = told([1_000, left(1)], [2_000, noticed(50_000)]);
		expect(intent).toMatchObject({ state: "leaving" });
		const { state } = transition(
			INITIAL_STATE,
			noticed(50_000),
			contextAt(1_000, HARD),
		);
		expect(state).toMatchObject({ phase: "CLOSED", ending: { exitCode: 143 } });
	});

	it("gives paused workers their time to save: all nodes may go", () => {
		const held = toldFrom(PAUSED, [2_000, noticed(50_000)]);
		expect(held.intent).toMatchObject({ state: "leaving" });
		expect(held.effects).toMatchObject([{ kind: "tell-notice" }]);
		expect(deadlineOf(held.state)).toBe(17_000);
		const due = toldFrom(held.state, [17_000, TIME]);
		expect(due.effects).toEqual([SIGTERM]);
		const saved = [
			[3_000, ready(0)],
			[3_000, ready(1)],
		] as const;
		expect(toldFrom(held.state, ...saved).effects).toEqual([SIGTERM]);
		const oneEnds = toldFrom(held.state, [3_000, exited(0, 1)]);
		expect(oneEnds.effects).toEqual([]);
		expect(oneEnds.intent).toMatchObject({ failure: null });
	});

	it("lets a node that has finished go in time for the deadline", () => {
		const all = [exited(0, 0), exited(1, 0), gone(0), gone(1)];
		const finished = all.map((input) => [1_000, input] as const);
		const { state } = told(...finished, [2_000, noticed(20_000)]);
		expect(deadlineOf(state)).toBe(12_000);
		const due = told(...finished, [2_000, noticed(20_000)], [12_000, TIME]);
		expect(due.state).toMatchObject({ leaving: { exitCode: 143 } });
		expect(deadlineOf(due.state)).toBe(14_000);
		const stays = toldFrom(due.state, [12_500, withdrawn]);
		expect(deadlineOf(stays.state)).toBeUndefined();
		const asked = toldFrom(due.state, [12_200, STOP], [12_500, withdrawn]);
		expect(deadlineOf(asked.state)).toBe(14_000);
	});
});

describe("workers that are to keep their time", () => {
	const lost: AgentInput = {
		...{ kind: "session-lost", reason: "etcd is silent", fenceAt: 4_000 },
	};

	it("are dead before others may go on without their node's lease", () => {
		const held = [
			[1_000, noticed(50_000)],
			[2_000, exited(0, 9)],
		] as const;
		const fenced = told(...held, [3_000, lost]);
		expect(fenced.effects).toContainEqual(SIGTERM);
		expect(deadlineOf(fenced.state)).toBe(4_000);
		expect(fenced.intent).toMatchObject({ state: "leaving" });
	});

	it("keep it though they have not answered PAUSE: they may be saving", () => {
		const late = [61_000, TIME] as const;
		const notice = [60_000, noticed(50_000)] as const;
		const held = toldUnder(SOFT, PAUSING, notice, late);
		expect(held.effects).toMatchObject([{ kind: "tell-notice" }]);
		expect(deadlineOf(held.state)).toBe(75_000);
		const back = toldUnder(SOFT, held.state, [62_000, withdrawn]);
		expect(back.state.leaving).toBeUndefined();
		expect(deadlineOf(back.state)).toBe(122_000);
	});
});

describe("SIGKILL comes before the machine goes", () => {
	const soon = noticed(10_000);
	it.each<[string, readonly Step[]]>([
		[
			"where a user stops the node",
			[
				[1_000, soon],
				[2_000, STOP],
			],
		],
		[
			"where the node was stopped before",
			[
				[1_000, STOP],
				[1_000, soon],
			],
		],
		[
			"where the run ends",
			[
				[1_000, soon],
				[2_000, seen(1, { outcome: STOPPED })],
			],
		],
	])("%s", (_, steps) => {
		const workers = [{ killAt: 11_000 }, { killAt: 11_000 }];
		expect(told(...steps).state).toMatchObject({ workers });
	});
});

describe("a withdrawn notice", () => {
	it("leaves everything as it was", () => {
		const { effects, intent, state } = told(
			[1_000, noticed(120_000)],
			[1_500, ready(0)],
			[2_000, withdrawn],
		);
		expect(intent).toMatchObject({ state: "running", notice: undefined });
		expect(deadlineOf(state)).toBeUndefined();
		expect(effects.at(-1)).toMatchObject({ kind: "tell-notice", source: null });
		expect(state).toMatchObject({ workers: [{ ready: false }, {}] });
	});

	it.each([
		["that work", RUNNING, [[2_000, left(1)] as const], "pausing"],
		["that are paused", PAUSED, [], "paused"],
	] as const)("keeps workers %s and were not told to end, under a policy that pauses", (_, from, steps, status) => {
		const notice = [1_000, noticed(50_000)] as const;
		const back = toldUnder(SOFT, from, notice, ...steps, [3_000, withdrawn]);
		expect(back.state).toMatchObject({ workers: [{ status }, { status }] });
		expect(back.effects).not.toContainEqual(SIGTERM);
		const restarted = toldFrom(from, notice, ...steps, [3_000, withdrawn]);
		expect(restarted.effects).toContainEqual(SIGTERM);
	});

	it("takes no other notice of its source with it", () => {
		const both = [
			[1_000, noticed(120_000, { origin: "maintenance" })],
			[1_000, noticed(30_000, { origin: "preempted" })],
		] as const;
		const over: AgentInput = { ...withdrawn, origin: "maintenance" };
		const { state, intent } = told(...both, [2_000, over]);
		expect(deadlineOf(state)).toBe(16_000);
		expect(intent).toMatchObject({ notice: { source: "aws" } });
		expect(intent?.notice).not.toHaveProperty("origin");
		const later = noticed(500_000, { origin: "advice" });
		expect(deadlineOf(told(...both, [2_000, later]).state)).toBe(16_000);
	});
});
