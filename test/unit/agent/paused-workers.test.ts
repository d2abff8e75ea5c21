import { describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { deadlineOf, intentOf } from "../../../src/agent/machine/state.js";
import { SoftReplaceRestartPolicyStrategy } from "../../../src/policies/soft-replace-restart-policy.js";
import { SoftRestartPolicyStrategy } from "../../../src/policies/soft-restart-policy.js";
import {
	acknowledged,
	contextAt,
	exited,
	gone,
	greeted,
	JOINED,
	left,
	PAUSED,
	play,
	RUNNING,
	STOP,
	seen,
	TIME,
	waits,
	works,
} from "./soft-agent.js";

const REPLACE = new SoftReplaceRestartPolicyStrategy();
const WAITS = waits(0, 1);

/** Three workers: local rank 0 has never said HELLO, and ends; the others are paused. */
const TOLD = play([
	...[seen(0), seen(1, {}, 3), greeted(1), greeted(2)],
	left(1),
]).state;
const at = (now: number) => contextAt(now);
/** The user knows that no answer has come yet. */
const ENDING = play([TIME], TOLD, at(6_000)).state;

describe("the time to end", () => {
	it("of a paused worker begins when it is told to end, whoever was told before it", () => {
		const { state, effects } = play([exited(1, 9)], ENDING, at(20_000));
		expect(effects).toEqual([{ kind: "terminate", localRanks: [1, 2] }]);
		expect(deadlineOf(state)).toBe(31_000);
		const killed = play([TIME], state, at(31_000));
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
		const rest = play([gone(0), gone(1)], killed.state, at(31_001));
		expect(deadlineOf(rest.state)).toBe(50_000);
		const last = play([TIME], rest.state, at(50_000));
		expect(last.effects).toEqual([{ kind: "kill", localRanks: [2] }]);
	});

	it("is the same where the agent is told to leave", () => {
		const { state, effects } = play([STOP], ENDING, at(30_000));
		expect(effects).toEqual([{ kind: "terminate", localRanks: [1, 2] }]);
		const killed = play([TIME], state, at(31_000));
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
		expect(deadlineOf(play([gone(0)], killed.state).state)).toBe(60_000);
	});

	it("is shorter where the fence comes before it, and the paused ones stay", () => {
		const lost: AgentInput = {
			kind: "session-lost",
			reason: "no keepalive",
			fenceAt: 1_500,
		};
		const { state, effects } = play([lost], ENDING);
		expect(effects).toEqual([]);
		expect(deadlineOf(state)).toBe(1_500);
		const killed = play([TIME], state, at(1_500));
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
	});

	it("is given to what a paused worker leaves behind", () => {
		const where = contextAt(20_000, REPLACE);
		const { state, effects } = play([exited(1, 9, true)], ENDING, where);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [1] }]);
		const rest = play([exited(0, 143), gone(0)], state, where).state;
		expect(rest.phase).toBe("STOPPING");
		expect(deadlineOf(rest)).toBe(50_000);
		expect(play([gone(1)], rest, where).state.phase).toBe("JOINING");
	});

	it("goes on where a worker that had succeeded left something behind before", () => {
		const leftBehind = play([exited(0, 0, true)], RUNNING).state;
		const { state, effects } = play([left(1)], leftBehind, at(5_000));
		expect(effects).toMatchObject([{ kind: "pause", localRanks: [1] }]);
		const answered = play([acknowledged(1, 2)], state, at(5_000)).state;
		expect(deadlineOf(answered)).toBe(31_000);
	});
});

describe("a process that SIGKILL does not end", () => {
	const killed = play([TIME], ENDING, at(31_000)).state;

	it("makes its node leave, when those that were paused have ended", () => {
		const { state, effects } = play([TIME], killed, at(36_000));
		expect(effects).toEqual([{ kind: "terminate", localRanks: [1, 2] }]);
		expect(intentOf(state)).toMatchObject({ state: "leaving" });
		expect(deadlineOf(state)).toBe(66_000);
		const ends = [exited(1, 143), gone(1), exited(2, 143), gone(2)];
		expect(play(ends, state, at(36_100)).state).toMatchObject({
			phase: "CLOSED",
			ending: {
				exitCode: 75,
				reason: expect.stringContaining(
					"stuck in the kernel or another user's: pid ? (local rank 0)",
				),
			},
		});
	});
});

describe("what is reported", () => {
	it("is the first failure of a round: what follows from it does not hide it", () => {
		const where = contextAt(1_000, REPLACE);
		const { state } = play([exited(0, 9), exited(1, 134)], RUNNING, where);
		expect(intentOf(state)?.failure).toMatchObject({
			failure: { localRank: 0, exitCode: 9, id: "a/a-1/1" },
		});
	});

	it("is another one in the next round", () => {
		const where = contextAt(1_000, REPLACE);
		const again = play(
			[
				...[exited(0, 9), gone(0), left(1)],
				...[seen(2, { deprecated: 1 }), acknowledged(1, 3), exited(1, 7)],
			],
			RUNNING,
			where,
		);
		expect(intentOf(again.state)?.failure).toMatchObject({
			failure: { round: 2, localRank: 1, id: "a/a-1/2" },
		});
	});

	it("is one that ends the run, whatever came before", () => {
		const policy = new SoftReplaceRestartPolicyStrategy();
		const where = contextAt(1_000, {
			...policy,
			onScaleUp: policy.onScaleUp,
			onScaleDown: policy.onScaleDown,
			onWorkerFailure: (context) =>
				context.exitCode === 42
					? { workers: "fail-run", charge: "nothing", reason: "42" }
					: policy.onWorkerFailure(context),
		});
		const { state } = play([exited(0, 9), exited(1, 42)], RUNNING, where);
		expect(intentOf(state)?.failure).toMatchObject({
			failsRun: 1,
			failure: { exitCode: 42 },
		});
	});
});

describe("T16 a worker that dies in a round of which it has not heard", () => {
	const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
	const failureAfter = (...inputs: readonly AgentInput[]) =>
		intentOf(play(inputs, working).state)?.failure;

	it("says in which it was", () => {
		expect(failureAfter(exited(0, 134))).toMatchObject({
			stillIn: 1,
			failure: { round: 2 },
		});
	});

	it.each([
		["the PAUSE alone", 2],
		["the WORK, and not waited for work", 3],
	])("does so as well where it has acknowledged %s", (_, event) => {
		const failure = failureAfter(acknowledged(0, event), exited(0, 134));
		expect(failure?.stillIn).toBe(1);
	});

	it.each([
		[
			"waited for work while it was paused",
			[WAITS, seen(2, { deprecated: 1 })],
		],
		["waited for work since then", [seen(2, { deprecated: 1 }), WAITS]],
		["begun to work there", [seen(2, { deprecated: 1 }), works(0, 2)]],
	])("does not where it has %s, and heard", (_, inputs) => {
		const heard = [...inputs, acknowledged(0, 3), exited(0, 134)];
		const { failure } = intentOf(play(heard, PAUSED).state) ?? {};
		expect(failure).toMatchObject({ failure: { round: 2 } });
		expect(failure?.stillIn).toBeUndefined();
	});

	it.each([
		["the newest that it was told to leave", 2, [acknowledged(0, 3)]],
		["the one that it works in", 2, [acknowledged(0, 3), works(0, 2)]],
		["the oldest where it has not heard of the other", 1, []],
	])("twice says %s", (_, stillIn, words) => {
		const once = play(words, working).state;
		const rest = [left(2), seen(3, { deprecated: 2 }), exited(0, 134)];
		const { failure } = intentOf(play(rest, once).state) ?? {};
		expect(failure).toMatchObject({ stillIn, failure: { round: 3 } });
	});

	it("does so where its word comes late that it works in the round that is left", () => {
		const rest = [acknowledged(0, 3), left(2), works(0, 2)];
		const after = [...rest, seen(3, { deprecated: 2 }), exited(0, 134)];
		const { failure } = intentOf(play(after, working).state) ?? {};
		expect(failure).toMatchObject({ stillIn: 2, failure: { round: 3 } });
	});

	it("does not when its time to acknowledge is over, where it has", () => {
		const heard = play([acknowledged(0, 3), acknowledged(1, 3)], working).state;
		const { state } = play([exited(0, 134)], heard, at(61_000));
		expect(intentOf(state)?.failure?.stillIn).toBeUndefined();
	});

	it("does not where it is given up because it does not acknowledge", () => {
		const once = play([acknowledged(0, 3), acknowledged(1, 3)], working).state;
		const twice = play([left(2), seen(3, { deprecated: 2 })], once).state;
		const late = play([acknowledged(1, 5), TIME], twice, at(61_000));
		expect(intentOf(late.state)?.failure).toMatchObject({
			failure: { localRank: 0, round: 3 },
		});
		expect(intentOf(late.state)?.failure?.stillIn).toBeUndefined();
	});
});

describe("a worker that fails", () => {
	it.each([
		["in a round that is on, for all its node knows: says so", RUNNING, true],
		["paused: says that too", PAUSED, true],
	])("%s", (_, state, unaware) => {
		const { state: after } = play([exited(0, 9)], state);
		const paused = state === PAUSED || undefined;
		expect(intentOf(after)?.failure).toMatchObject({ unaware, paused });
	});

	it("to acknowledge its PAUSE in time has not died of anything", () => {
		const heard = play([acknowledged(0, 2), acknowledged(1, 2)], PAUSED).state;
		const again = play([seen(2, { deprecated: 1 }), left(2, JOINED)], heard);
		const late = play([TIME], again.state, at(61_000)).state;
		expect(intentOf(late)?.failure).toMatchObject({
			...{ unaware: undefined, paused: undefined },
			failure: { description: expect.stringContaining("acknowledge PAUSE") },
		});
	});
});

describe("several PAUSEs", () => {
	/** Paused at 1 s for round 1, and at 41 s for round 2. */
	const twice = play(
		[seen(2, { deprecated: 1 }), left(2, JOINED)],
		PAUSED,
		at(41_000),
	).state;

	it("keep the deadline of the first", () => {
		expect(deadlineOf(twice)).toBe(61_000);
	});

	it("are acknowledged one by one, or with any later event", () => {
		const first = play([acknowledged(0, 2), acknowledged(1, 2)], twice).state;
		expect(deadlineOf(first)).toBe(101_000);
		const both = play([acknowledged(0, 4), acknowledged(1, 5)], twice).state;
		expect(deadlineOf(both)).toBeUndefined();
	});

	it("are not expected of one that has done its part, and has left others of its group behind", () => {
		const working = play([seen(3, { deprecated: 2 })], twice).state;
		const { state } = play([exited(0, 0, true), acknowledged(1, 5)], working);
		expect(deadlineOf(state)).toBe(31_000);
		const killed = play([TIME], state, at(31_000));
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
		expect(deadlineOf(killed.state)).toBe(36_000);
		expect(play([TIME], killed.state, at(36_000)).state).toMatchObject({
			phase: "STOPPING",
			next: { kind: "leave", exitCode: 75 },
		});
	});

	it("end in a WORK that says why the last one was", () => {
		const { effects } = play([seen(3, { deprecated: 2 })], twice);
		expect(effects).toMatchObject([
			{
				kept: new Map([
					[0, "SCALE_UP"],
					[1, "SCALE_UP"],
				]),
			},
		]);
	});
});

describe("a node that leaves for a failure of its own", () => {
	const refused: AgentInput = {
		kind: "round-seen",
		view: {
			...left(1).view,
			seat: {
				version: 1,
				incarnation: "a-1",
				refused: "a has used up its budget",
			},
		},
	};

	it("names it when its budget is spent", () => {
		const failed = play(
			[exited(0, 9), gone(0)],
			RUNNING,
			contextAt(1_000, REPLACE),
		);
		const ended = play(
			[refused, exited(1, 143), gone(1)],
			failed.state,
			contextAt(1_000, REPLACE),
		);
		expect(ended.state).toMatchObject({
			phase: "CLOSED",
			ending: { exitCode: 75, root: { localRank: 0, exitCode: 9 } },
		});
	});

	it("names it where its policy lets it leave", () => {
		const policy = new SoftRestartPolicyStrategy();
		const leaves = contextAt(1_000, {
			...policy,
			onScaleUp: policy.onScaleUp,
			onScaleDown: policy.onScaleDown,
			onWorkerFailure: ({ cause }) => ({
				...{ workers: "leave", charge: "nothing", reason: cause },
			}),
		});
		const ends = [gone(0), exited(1, 143), gone(1), left(1)];
		const ended = play([exited(0, 9), ...ends], RUNNING, leaves);
		expect(ended.state).toMatchObject({
			ending: { exitCode: 75, root: { exitCode: 9 } },
		});
	});
});
