import { describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	deadlineOf,
} from "../../../src/agent/machine/state.js";
import { SoftReplaceRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type { RoundCause } from "../../../src/rendezvous/records/records.js";
import {
	acknowledged,
	contextAt,
	exited,
	gone,
	greeted,
	JOINED,
	LEFT,
	left,
	PAUSED,
	play,
	RUNNING,
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
		const left = play([acknowledged(2, 2)], rest, where).state;
		expect(left.phase).toBe("STOPPING");
		expect(deadlineOf(left)).toBe(50_000);
		expect(play([gone(1)], left, where).state.phase).toBe("JOINING");
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

describe("T16 a failure that belongs to what ended the round before", () => {
	const alone = contextAt(1_000, REPLACE);
	const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
	const failureAfter = (
		inputs: readonly AgentInput[],
		from = working,
		where = at(1_000),
	) => intentOf(play(inputs, from, where).state)?.failure;
	const heard = [acknowledged(0, 3), acknowledged(1, 3)];

	it.each<[string, readonly AgentInput[]]>([
		["has not acknowledged the WORK", [exited(0, 134)]],
		["has not waited for work", [acknowledged(0, 3), exited(0, 134)]],
		[
			"says that it worked before",
			[acknowledged(0, 3), works(0, 1), exited(0, 134)],
		],
		[
			"cannot be told to work",
			[{ kind: "worker-not-told", localRank: 0, problem: "full disk" }],
		],
	])("is that of a kept worker that %s", (_, inputs) => {
		expect(failureAfter(inputs)).toMatchObject({
			...{ unaware: true, paused: true },
			failure: { round: 2 },
		});
	});

	it.each<[string, readonly AgentInput[], AgentState]>([
		["has waited for work while it was paused", [WAITS], PAUSED],
		["has waited for work since", [WAITS], working],
		["says that it works there", [works(0, 2)], working],
	])("is not that of one that %s", (_, words, from) => {
		const inputs = [...words, seen(2, { deprecated: 1 }), acknowledged(0, 3)];
		const failure = failureAfter([...inputs, exited(0, 134)], from);
		expect(failure).toMatchObject({ unaware: true, failure: { round: 2 } });
		expect(failure?.paused).toBeUndefined();
	});

	it("is not that of one that has acknowledged the WORK, when the time to leave is over", () => {
		const { state } = play(heard, working);
		const failure = failureAfter([exited(0, 134)], state, at(61_000));
		expect(failure?.paused).toBeUndefined();
	});

	it.each([
		["that is paused", PAUSED],
		["that has not left its round yet", TOLD],
	])("is that of one %s", (_, state) => {
		const failure = failureAfter([exited(1, 9)], state);
		expect(failure).toMatchObject({ unaware: undefined, paused: true });
	});

	it("is that of one that does not acknowledge its PAUSE in time", () => {
		const again = [...heard, left(2, JOINED), acknowledged(1, 4)];
		const failure = failureAfter(
			[TIME],
			play(again, working).state,
			at(61_000),
		);
		expect(failure).toMatchObject({
			paused: true,
			failure: { description: expect.stringContaining("acknowledge PAUSE") },
		});
	});

	describe("in a place where one has failed so", () => {
		const died = [exited(0, 134), gone(0), acknowledged(1, 4)];
		const next = (cause: RoundCause) => [
			...[left(2, cause), seen(3, { deprecated: 2, cause })],
			...[greeted(0), acknowledged(1, 5), left(3, cause)],
			...[acknowledged(0, 2), acknowledged(1, 6)],
		];
		const failedIn = (cause: RoundCause) =>
			failureAfter([...died, ...next(cause), exited(0, 134)], working, alone);

		it("is not that of the next one in the same incident", () => {
			const failure = failedIn({ ...LEFT, ended: 1 });
			expect(failure).toMatchObject({ failure: { round: 3, localRank: 0 } });
			expect([failure?.paused, failure?.unaware]).toEqual([
				undefined,
				undefined,
			]);
		});

		it("is that of the next one in another incident", () => {
			const failure = failedIn({ ...LEFT, ended: 3 });
			expect(failure).toMatchObject({ paused: true, failure: { round: 3 } });
		});
	});
});

describe("several PAUSEs", () => {
	it("end in a WORK that says why the last one was", () => {
		const twice = play(
			[
				...[seen(2, { deprecated: 1 }), left(2, JOINED)],
				...[acknowledged(0, 4), acknowledged(1, 4)],
			],
			PAUSED,
		).state;
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
			[exited(0, 9), gone(0), acknowledged(1, 2)],
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
});
