import { describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import { deadlineOf } from "../../../src/agent/machine/state.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
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
	PAUSING,
	play,
	RUNNING,
	seen,
	TIME,
	waits,
	works,
} from "./soft-agent.js";

const kinds = (effects: readonly { readonly kind: string }[]) =>
	effects.map(({ kind }) => kind);

describe("a change of the world", () => {
	it.each([
		["T4 scale-down", LEFT, "SCALE_DOWN"],
		["T4 T7 scale-up", JOINED, "SCALE_UP"],
	])("%s: PAUSE, ready when all have left, WORK in the next round", (_, cause, change) => {
		const told = play([left(1, cause)], RUNNING);
		expect(told.effects).toEqual([
			{ kind: "pause", localRanks: [0, 1], change, reason: cause.reason },
		]);
		const one = play([acknowledged(0, 2)], told.state);
		expect(intentOf(one.state)).toMatchObject({ state: "stopping", claim: 2 });
		const paused = play([acknowledged(1, 2)], one.state);
		expect(intentOf(paused.state)).toMatchObject({ state: "ready", claim: 2 });
		expect(paused.reason).toBe("ready for round 2 (2 workers paused)");
		expect(deadlineOf(paused.state)).toBeUndefined();
		const working = play([seen(2, { deprecated: 1 })], paused.state);
		expect(working.state.phase).toBe("RUNNING");
		expect(kinds(working.effects)).toEqual(["start-workers"]);
		expect(working.effects).toMatchObject([
			{
				kept: new Map([
					[0, change],
					[1, change],
				]),
			},
		]);
	});

	it("T14 a worker that never said HELLO is ended and started again, uncounted, with a warning", () => {
		const half = play([seen(0), seen(1), greeted(0)]).state;
		const { state, effects } = play([left(1)], half);
		expect(state.phase).toBe("STOPPING");
		expect(intentOf(state)).toMatchObject({ state: "stopping", failure: null });
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [0] },
			{ kind: "terminate", localRanks: [1] },
			{ kind: "warn" },
		]);
		const ready = play([exited(1, 143), gone(1), acknowledged(0, 2)], state);
		expect(intentOf(ready.state)).toMatchObject({ state: "ready", claim: 2 });
		expect(
			play([seen(2, { deprecated: 1 })], ready.state).effects,
		).toMatchObject([
			{ kind: "start-workers", kept: new Map([[0, "SCALE_DOWN"]]) },
		]);
	});
});

describe("leaving the round", () => {
	const late = contextAt(61_000);
	const inRound = (round: number) => [
		seen(round, { deprecated: round - 1 }),
		left(round),
	];

	it("the user learns what to call when a first PAUSE has no answer for 5 s, once", () => {
		const { state } = play([acknowledged(1, 2)], PAUSING);
		expect(deadlineOf(state)).toBe(6_000);
		const hint = play([TIME], state, contextAt(6_000));
		expect(hint.effects).toEqual([
			{
				kind: "warn",
				message: expect.stringMatching(
					/from local rank 0: .* Let it call waitForWork\(\).* within 60 s/,
				),
			},
		]);
		expect(deadlineOf(hint.state)).toBe(61_000);
	});

	it("T14 one that has acknowledged before, and does not in time, has failed", () => {
		const again = play([...inRound(2), acknowledged(1, 4)], PAUSED).state;
		const { state, effects } = play([TIME], again, late);
		expect(intentOf(state)?.failure).toMatchObject({
			charge: "node",
			failure: { localRank: 0, round: 2, isGivenUp: true },
		});
		expect(effects).toMatchObject([{ kind: "terminate", localRanks: [0, 1] }]);
	});

	it("T14 one that never acknowledged any is started again in the same round when the time is over, uncounted", () => {
		const silent = play([acknowledged(1, 2)], PAUSING).state;
		const { state, effects } = play([TIME], silent, late);
		expect(effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
		expect(intentOf(state)).toMatchObject({ state: "stopping", failure: null });
		expect(deadlineOf(state)).toBe(91_000);
		const ready = play([exited(0, 143), gone(0)], state).state;
		expect(intentOf(ready)).toMatchObject({ state: "ready", claim: 2 });
		expect(play([seen(2, { deprecated: 1 })], ready).effects).toMatchObject([
			{ kind: "start-workers", kept: new Map([[1, "SCALE_DOWN"]]) },
		]);
	});

	it("an agent that was stopped itself first hears what was said meanwhile", () => {
		const woken = contextAt(70_000);
		const hinted = play([TIME], PAUSING, contextAt(6_000)).state;
		const { state, effects } = play([acknowledged(1, 2), TIME], hinted, woken);
		expect([effects, deadlineOf(state)]).toEqual([[], 72_000]);
		const heard = play([acknowledged(0, 2)], state, woken).state;
		expect(deadlineOf(heard)).toBeUndefined();
		const silent = play([TIME], state, contextAt(72_000));
		expect(silent.effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
	});

	it("is not said by an acknowledgement of an earlier event, nor by waiting before PAUSE", () => {
		const early = [acknowledged(0, 1), acknowledged(1, 1)];
		const { state } = play(early, PAUSING);
		expect(intentOf(state)).toMatchObject({ state: "stopping" });
		const waiting = play([waits(0, 1), left(1)], RUNNING).state;
		expect(intentOf(waiting)).toMatchObject({ state: "stopping" });
	});

	it("takes as long as the node's record says, also while what it gives up ends, and no longer", () => {
		const silent = play([acknowledged(1, 2)], PAUSING).state;
		expect(intentOf(silent)?.awaitsWorkersMs).toBe(60_000);
		const hard = contextAt(30_000, new HardRestartPolicyStrategy());
		const ending = play([exited(1, 1)], silent, hard).state;
		expect(intentOf(ending)?.awaitsWorkersMs).toBe(60_000);
		const givenUp = play([TIME], silent, late).state;
		expect(intentOf(givenUp)?.awaitsWorkersMs).toBe(60_000);
		const { state } = play([exited(0, 143), gone(0)], givenUp);
		expect(intentOf(state)?.awaitsWorkersMs).toBeUndefined();
	});

	it("an agent that leaves a round before the others do says why, until it claims another one", () => {
		const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
		const cause =
			"rank 0 ended before it had heard of round 2: it is restarted";
		const asking = play([exited(0, 0)], working).state;
		expect(intentOf(asking)).toMatchObject({ state: "stopping", cause });
		const ready = play([gone(0), acknowledged(1, 4)], asking).state;
		expect(intentOf(ready)).toMatchObject({ state: "ready", claim: 3, cause });
		const passed = play([left(3)], ready).state;
		expect(intentOf(passed)).toMatchObject({ claim: 4, cause: null });
		const again = play([seen(3, { deprecated: 2 })], ready).state;
		expect(intentOf(again)).toMatchObject({ state: "running", cause: null });
	});
});

describe("a worker's failure", () => {
	it("T16 of a paused worker is a failure of the round that was left", () => {
		const { state, effects } = play([exited(0, 134)], PAUSED);
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			failure: { failure: { round: 1, localRank: 0 } },
		});
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
	});

	it("a paused worker that exits with 0 is no failure, and is started again", () => {
		const { state } = play([exited(0, 0), gone(0)], PAUSED);
		expect(intentOf(state)).toMatchObject({ state: "ready", failure: null });
		expect(play([seen(2, { deprecated: 1 })], state).effects).toMatchObject([
			{ kind: "start-workers", kept: new Map([[1, "SCALE_DOWN"]]) },
		]);
	});

	it("one that exits with 0 before it has heard that it may work has not succeeded either", () => {
		const unheard = play(
			[seen(2, { deprecated: 1 }), acknowledged(1, 3)],
			PAUSED,
		).state;
		const { state, effects } = play([exited(0, 0)], unheard);
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [1] },
			{ kind: "terminate", localRanks: [0] },
		]);
		const ready = play([gone(0), acknowledged(1, 4)], state);
		expect(intentOf(ready.state)).toMatchObject({
			state: "ready",
			claim: 3,
			failure: null,
		});
	});

	it.each<[string, readonly AgentInput[], string, number]>([
		["has heard it by a listener alone", [], "STOPPING", 2_000],
		["has waited for it", [waits(0, 1)], "RUNNING", 2_000],
		["says that it works there", [works(0, 2)], "RUNNING", 2_000],
		["says that it worked before", [works(0, 1)], "STOPPING", 2_000],
		["goes on for a while", [], "RUNNING", 61_000],
	])("T14 one that exits with 0 and %s", (_, words, phase, at) => {
		const taken = [seen(2, { deprecated: 1 }), acknowledged(0, 3)];
		const running = play([...taken, ...words], PAUSED).state;
		const ended = play([exited(0, 0)], running, contextAt(at));
		expect(ended.state.phase).toBe(phase);
		const isAnew = ended.reason.includes(
			"rank 0 ended after its PAUSE, and had not waited for work since: it is restarted",
		);
		expect(isAnew).toBe(phase === "STOPPING");
		expect(intentOf(ended.state)?.failure).toBeNull();
	});
});

describe("one that ended with 0 at its PAUSE when the next round ran", () => {
	const work = (round: number) => seen(round, { deprecated: round - 1 });
	const waiting = waits(0, 3);
	const late = contextAt(61_000);
	const lateEnd = [work(2), acknowledged(1, 3), exited(0, 0), gone(0)];
	const again = [left(2), acknowledged(1, 4), work(3), greeted(0)];
	/** Its successor runs in round 3. */
	const ended = play([...lateEnd, ...again], PAUSED).state;
	const heard = [left(3), acknowledged(0, 2), acknowledged(1, 6)];

	it("for the one in its place an acknowledgement is not enough, and the user learns it", () => {
		const { state, effects } = play([left(3)], ended);
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [0, 1] },
			{ kind: "warn", message: expect.stringContaining("local rank 0") },
		]);
		const told = play([acknowledged(0, 2), acknowledged(1, 6)], state).state;
		expect(intentOf(told)).toMatchObject({ state: "stopping", claim: 4 });
		expect(deadlineOf(told)).toBe(61_000);
	});

	it.each<[string, readonly AgentInput[], readonly number[]]>([
		["until it has ended", [exited(0, 0), gone(0)], [1]],
		["until it waits for work", [waiting], [0, 1]],
	])("%s", (_, inputs, kept) => {
		const { state } = play([...heard, ...inputs], ended);
		expect(intentOf(state)).toMatchObject({ state: "ready", failure: null });
		const next = play([work(4)], state);
		const [start] = next.effects;
		expect(start?.kind === "start-workers" && [...start.kept.keys()]).toEqual(
			kept,
		);
	});

	it("where it has heard and not ended when its time is over, it is started again in the same round, uncounted", () => {
		const { state, effects } = play([TIME], play(heard, ended).state, late);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
		const next = play([exited(0, 143), gone(0)], state);
		expect(intentOf(next.state)).toMatchObject({
			state: "ready",
			failure: null,
		});
	});

	it("one that was waiting for work when the PAUSE came has left with its acknowledgement", () => {
		const { state } = play([waiting, ...heard], ended);
		expect(intentOf(state)).toMatchObject({ state: "ready" });
	});

	it("is told to end where no round follows", () => {
		const outcome = {
			result: "failed",
			exitCode: 1,
			reason: "the budget is spent",
			root: null,
		} as const;
		const alone = play([left(3), exited(1, 0), gone(1)], ended).state;
		const { effects } = play([seen(3, { outcome })], alone);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
	});
});

describe("a worker that waits for work", () => {
	const waits = (round: number | null): AgentInput => ({
		kind: "worker-waits",
		localRank: 1,
		round,
	});

	it("in a round that nobody left asks for a new one after 2 s: one incident, nobody ends", () => {
		const waiting = play([waits(1)], RUNNING).state;
		expect(deadlineOf(waiting)).toBe(3_000);
		const { state, effects } = play([TIME], waiting, contextAt(3_000));
		expect(kinds(effects)).toEqual(["pause"]);
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			claim: 2,
			failure: { charge: "node", failure: { localRank: 1 } },
		});
	});

	it("in a round that began because a worker waited waits on, with one warning that names the fix", () => {
		const cause = { ...LEFT, kind: "failure", isWish: true } as const;
		const again = play([seen(1, { cause }), waits(1)], RUNNING).state;
		const { state, effects } = play([TIME], again, contextAt(3_000));
		expect(state.phase).toBe("RUNNING");
		expect(state.failure).toBeNull();
		expect(effects).toMatchObject([
			{ kind: "warn", message: expect.stringMatching(/^rank 1 .*afterRound/) },
		]);
		const later = play([waits(1), TIME], state, contextAt(90_000));
		expect(later.effects).toEqual([]);
		expect(deadlineOf(later.state)).toBeUndefined();
		const over = play([left(1)], later.state, contextAt(90_000));
		expect(kinds(over.effects)).toEqual(["pause"]);
	});

	it("waits for the round that it is in: nothing is asked for", () => {
		expect(deadlineOf(play([waits(0)], RUNNING).state)).toBeUndefined();
	});

	it("and gives it up by itself asks for nothing, however often", () => {
		const polls = [waits(1), waits(null), waits(1), waits(null)];
		const { state } = play(polls, RUNNING);
		expect(deadlineOf(state)).toBeUndefined();
		expect(play([TIME], state, contextAt(9_000)).effects).toEqual([]);
	});
});

describe("the end", () => {
	it("T5 a lost session pauses, and ends the deaf by the fence", () => {
		const half = play([seen(0), seen(1), greeted(0)]).state;
		const { state, effects } = play(
			[{ kind: "session-lost", reason: "no keepalive", fenceAt: 1_500 }],
			half,
		);
		expect(kinds(effects)).toEqual(["pause", "terminate", "warn"]);
		expect(deadlineOf(state)).toBe(1_500);
	});

	it("a worker that cannot be told to pause is ended", () => {
		const { effects } = play(
			[{ kind: "worker-not-told", localRank: 0, problem: "full disk" }],
			PAUSING,
		);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
	});

	it("T5 one that cannot be told to pause when the session is lost is killed by the fence", () => {
		const { state } = play(
			[
				{ kind: "session-lost", reason: "no keepalive", fenceAt: 1_500 },
				{ kind: "worker-not-told", localRank: 0, problem: "full disk" },
			],
			RUNNING,
		);
		expect(deadlineOf(state)).toBe(1_500);
	});
});
