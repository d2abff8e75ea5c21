import { describe, expect, it } from "vitest";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { deadlineOf, intentOf } from "../../../src/agent/machine/state.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/hard-restart-policy.js";
import { SoftReplaceRestartPolicyStrategy } from "../../../src/policies/soft-replace-restart-policy.js";
import {
	acknowledged,
	contextAt,
	exited,
	gone,
	greeted,
	JOINED,
	JUST_PAUSED,
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
const kinds = (effects: readonly { readonly kind: string }[]) =>
	effects.map(({ kind }) => kind);

describe("a change of the world", () => {
	it.each([
		["T4 scale-down", LEFT, "SCALE_DOWN"],
		["T4 T7 scale-up", JOINED, "SCALE_UP"],
	])("%s: PAUSE, ready at once, WORK in the next round", (_, cause, change) => {
		const paused = play([left(1, cause)], RUNNING);
		expect(paused.effects).toEqual([
			{ kind: "pause", localRanks: [0, 1], change, reason: cause.reason },
		]);
		expect(intentOf(paused.state)).toMatchObject({ state: "ready", claim: 2 });
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

	it("T14 a worker that never said HELLO is ended and started anew, uncounted, with a warning", () => {
		const half = play([seen(0), seen(1), greeted(0)]).state;
		const { state, effects } = play([left(1)], half);
		expect(state.phase).toBe("STOPPING");
		expect(intentOf(state)).toMatchObject({ state: "stopping", failure: null });
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [0] },
			{ kind: "terminate", localRanks: [1] },
			{ kind: "warn" },
		]);
		const ready = play([exited(1, 143), gone(1)], state);
		expect(intentOf(ready.state)).toMatchObject({ state: "ready", claim: 2 });
		expect(
			play([seen(2, { deprecated: 1 })], ready.state).effects,
		).toMatchObject([
			{ kind: "start-workers", kept: new Map([[0, "SCALE_DOWN"]]) },
		]);
	});

	it("a second change before the next round pauses nobody twice", () => {
		const { effects, state } = play([left(1, JOINED)], PAUSED);
		expect(effects).toEqual([]);
		expect(intentOf(state)).toMatchObject({ state: "ready", claim: 2 });
	});

	it("a round that was left before it was seen changes only what is claimed", () => {
		const { effects, state } = play([left(2)], PAUSED);
		expect(effects).toEqual([]);
		expect(intentOf(state)).toMatchObject({ state: "ready", claim: 3 });
	});
});

describe("acknowledgements", () => {
	const late = contextAt(61_000);

	it("the user learns what to call when a first PAUSE has no answer for 5 s, once", () => {
		const { state } = play([acknowledged(1, 2)], JUST_PAUSED);
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

	it.each<[string, readonly AgentInput[], number]>([
		["after an answer", [acknowledged(0, 2), acknowledged(1, 2)], 6_000],
		["by an agent that was stopped meanwhile", [], 8_000],
	])("nothing is said so %s", (_, answers, now) => {
		const { state } = play(answers, JUST_PAUSED);
		expect(play([TIME], state, contextAt(now)).effects).toEqual([]);
	});

	it("nothing is said so of a worker that has answered before", () => {
		const again = [seen(2, { deprecated: 1 }), left(2)];
		const answers = [acknowledged(0, 2), acknowledged(1, 2)];
		const { state } = play([...answers, ...again], JUST_PAUSED);
		expect(deadlineOf(state)).toBe(61_000);
	});

	it("T14 one that has acknowledged before, and does not in time, has failed", () => {
		const once = play(
			[
				acknowledged(0, 2),
				acknowledged(1, 2),
				seen(2, { deprecated: 1 }),
				left(2),
			],
			PAUSED,
		).state;
		expect(deadlineOf(once)).toBe(61_000);
		const { state, effects } = play([acknowledged(1, 4), TIME], once, late);
		expect(intentOf(state)?.failure).toMatchObject({
			charge: "node",
			failure: { localRank: 0, round: 2, isGivenUp: true },
		});
		expect(effects).toMatchObject([{ kind: "terminate", localRanks: [0, 1] }]);
	});

	it("T14 one that never acknowledged any is started anew when the time is over, uncounted", () => {
		const { state, effects } = play([acknowledged(1, 2), TIME], PAUSED, late);
		expect(effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
		expect(intentOf(state)).toMatchObject({ state: "stopping", failure: null });
		expect(deadlineOf(state)).toBe(91_000);
	});

	it("an agent that was stopped itself first hears what was said meanwhile", () => {
		const woken = contextAt(70_000);
		const { state, effects } = play([acknowledged(1, 2), TIME], PAUSED, woken);
		expect([effects, deadlineOf(state)]).toEqual([[], 72_000]);
		const heard = play([acknowledged(0, 2)], state, woken).state;
		expect(deadlineOf(heard)).toBeUndefined();
		const silent = play([TIME], state, contextAt(72_000));
		expect(silent.effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
	});

	it("the deadline outlives the phase, and an acknowledgement of the WORK clears it as well", () => {
		const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
		expect(deadlineOf(working)).toBe(61_000);
		const cleared = play(
			[acknowledged(0, 3), acknowledged(1, 3)],
			working,
		).state;
		expect(deadlineOf(cleared)).toBeUndefined();
	});

	it("T14 one that never acknowledged any is started anew in a round that runs as well, and the others pause", () => {
		const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
		const { state, effects } = play([acknowledged(1, 3), TIME], working, late);
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [1], change: "SCALE_DOWN" },
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
		expect(intentOf(state)).toMatchObject({ claim: 3, failure: null });
	});

	it("an agent that leaves a round before the others do says why, until it claims another one", () => {
		const working = play([seen(2, { deprecated: 1 })], PAUSED).state;
		const cause =
			"rank 0 did not acknowledge PAUSE within 60 s, nor any before: it is restarted";
		const asking = play([acknowledged(1, 3), TIME], working, late).state;
		expect(intentOf(asking)).toMatchObject({ state: "stopping", cause });
		const ready = play([exited(0, 143), gone(0)], asking).state;
		expect(intentOf(ready)).toMatchObject({ state: "ready", claim: 3, cause });
		const passed = play([left(3)], ready).state;
		expect(intentOf(passed)).toMatchObject({ claim: 4, cause: null });
		const again = play([seen(3, { deprecated: 2 })], ready).state;
		expect(intentOf(again)).toMatchObject({ state: "running", cause: null });
	});

	it("one that leaves a round after the others says nothing of its own", () => {
		expect(intentOf(PAUSED)).toMatchObject({ cause: null });
	});

	it("an acknowledgement of an earlier event clears nothing", () => {
		expect(
			deadlineOf(play([acknowledged(0, 1), acknowledged(1, 1)], PAUSED).state),
		).toBe(61_000);
	});
});

describe("a worker's failure", () => {
	it("T4 T10 under soft: the node's workers end, the node pays, fresh ones follow", () => {
		const { state, effects } = play([exited(1, 9)], RUNNING);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
		expect(intentOf(state)?.failure).toMatchObject({ charge: "node" });
		const next = play(
			[gone(1), exited(0, 143), gone(0), left(1), seen(2, { deprecated: 1 })],
			state,
		);
		expect(next.effects).toMatchObject([
			{ kind: "start-workers", kept: new Map() },
		]);
	});

	it("T11 under soft-replace: only the failed worker is started anew", () => {
		const where = contextAt(1_000, REPLACE);
		const { state, effects } = play([exited(1, 9)], RUNNING, where);
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [0] },
			{ kind: "terminate", localRanks: [1] },
		]);
		expect(intentOf(state)?.failure).toMatchObject({ charge: "worker" });
		const next = play(
			[gone(1), left(1), seen(2, { deprecated: 1 })],
			state,
			where,
		);
		expect(next.effects).toMatchObject([
			{ kind: "start-workers", kept: new Map([[0, "SCALE_DOWN"]]) },
		]);
	});

	it("T16 of a paused worker is a failure of the round that was left", () => {
		const { state, effects } = play([exited(0, 134)], PAUSED);
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			failure: { failure: { round: 1, localRank: 0 } },
		});
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
	});

	it("of a paused worker while the next round begins asks for the one after at once", () => {
		const crossed = [exited(0, 134), seen(2, { deprecated: 1 })];
		const { state } = play(crossed, PAUSED);
		expect(intentOf(state)).toMatchObject({ state: "stopping", claim: 3 });
		const { state: told } = play([left(2)], state);
		expect(intentOf(told)).toMatchObject({ state: "stopping", claim: 3 });
	});

	it("a paused worker that exits with 0 is no failure, and is started anew", () => {
		const { state } = play([exited(0, 0), gone(0)], PAUSED);
		expect(intentOf(state)).toMatchObject({ state: "ready", failure: null });
		expect(play([seen(2, { deprecated: 1 })], state).effects).toMatchObject([
			{ kind: "start-workers", kept: new Map([[1, "SCALE_DOWN"]]) },
		]);
	});

	it("one that exits with 0 before it has heard that it may work has not succeeded either", () => {
		const unheard = play(
			[seen(2, { deprecated: 1 }), acknowledged(0, 2), acknowledged(1, 3)],
			PAUSED,
		).state;
		const { state, effects } = play([exited(0, 0)], unheard);
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [1] },
			{ kind: "terminate", localRanks: [0] },
		]);
		const ready = play([gone(0)], state);
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

describe("one that took a PAUSE in a way that cost the others a round", () => {
	const work = (round: number) => seen(round, { deprecated: round - 1 });
	const waiting = waits(0, 3);
	const late = contextAt(61_000);
	const again = [...[gone(0), left(2), work(3), greeted(0)]];
	const lateEnd = [work(2), acknowledged(0, 2), exited(0, 0), ...again];
	const ended = play(lateEnd, PAUSED).state;
	const silent = play(
		[TIME, exited(0, 143), gone(0), work(2), greeted(0)],
		play([acknowledged(1, 2)], PAUSED).state,
		late,
	).state;

	it("that ended late: at the next PAUSE the round waits for the one in its place, and says so", () => {
		const { state, effects } = play([left(3)], ended);
		expect(intentOf(state)).toMatchObject({ state: "stopping", claim: 4 });
		expect(effects).toMatchObject([
			{ kind: "pause", localRanks: [0, 1] },
			{ kind: "warn", message: expect.stringContaining("local rank 0") },
		]);
		expect(deadlineOf(state)).toBe(61_000);
	});

	it("its node says for how long it may wait, also while what it gives up ends, and no longer", () => {
		const waits = play(
			[left(3), acknowledged(0, 2), acknowledged(1, 6)],
			ended,
		);
		expect(intentOf(waits.state)?.awaitsWorkersMs).toBe(60_000);
		const hard = contextAt(30_000, new HardRestartPolicyStrategy());
		const ending = play([exited(1, 1)], waits.state, hard).state;
		expect(intentOf(ending)?.awaitsWorkersMs).toBe(60_000);
		const givenUp = play([TIME], waits.state, late).state;
		expect(intentOf(givenUp)?.awaitsWorkersMs).toBe(60_000);
		const { state } = play([exited(0, 143), gone(0)], givenUp);
		expect(intentOf(state)?.awaitsWorkersMs).toBeUndefined();
	});

	it.each<[string, readonly AgentInput[], readonly number[]]>([
		["until it has ended", [exited(0, 0), gone(0)], [1]],
		["until it waits for work", [acknowledged(0, 2), waiting], [0, 1]],
	])("%s", (_, inputs, kept) => {
		const { state } = play([left(3), ...inputs], ended);
		expect(intentOf(state)).toMatchObject({ state: "ready", failure: null });
		const next = play([acknowledged(1, 7), work(4)], state);
		const [start] = next.effects;
		expect(start?.kind === "start-workers" && [...start.kept.keys()]).toEqual(
			kept,
		);
		expect(deadlineOf(next.state)).toBeUndefined();
	});

	it("an acknowledgement is not enough where the one before it ended after that", () => {
		const { state } = play([left(3), acknowledged(0, 2)], ended);
		expect(intentOf(state)).toMatchObject({ state: "stopping" });
	});

	it("where it has heard and not ended when its time is over, it is started anew in the same round, uncounted", () => {
		const heard = [left(3), acknowledged(0, 2), acknowledged(1, 6)];
		const { state, effects } = play([TIME], play(heard, ended).state, late);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
		const next = play([exited(0, 143), gone(0)], state);
		expect(intentOf(next.state)).toMatchObject({
			state: "ready",
			failure: null,
		});
	});

	it("where it ends once more before it has heard of its WORK, that costs nothing either", () => {
		const waited = [
			left(3),
			acknowledged(0, 2),
			waiting,
			work(4),
			exited(0, 0),
		];
		const { state } = play(waited, ended);
		expect(intentOf(state)).toMatchObject({ claim: 5, failure: null });
	});

	it("where it has not even heard when its time is over, it is started anew", () => {
		const waiting = play([left(3), acknowledged(1, 6)], ended).state;
		const { state, effects } = play([TIME], waiting, late);
		expect(effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
		expect(intentOf(state)).toMatchObject({ failure: null });
	});

	it("is waited for at the PAUSE after that as well, though it stayed", () => {
		const heard = [acknowledged(0, 2), waiting, acknowledged(1, 6)];
		const worked = [work(4), acknowledged(0, 3), acknowledged(1, 7)];
		const { state } = play([left(3), ...heard, ...worked, left(4)], ended);
		expect(intentOf(state)).toMatchObject({ state: "stopping", claim: 5 });
	});

	describe("that died late", () => {
		const alone = contextAt(1_000, REPLACE);
		const begun = [work(2), acknowledged(0, 2), exited(0, 134)];
		const died = play([...begun, ...again], PAUSED, alone).state;
		const heard = [left(3), acknowledged(0, 2), acknowledged(1, 6)];

		it("says that it was the first in its place", () => {
			const { failure } = intentOf(play(begun, PAUSED).state) ?? {};
			expect(failure).toMatchObject({ stillIn: 1, isLateAgain: undefined });
		});

		it("at the next PAUSE the round waits for the one in its place: until it has ended, or waits for work", () => {
			const { state, effects } = play([left(3)], died);
			expect(intentOf(state)).toMatchObject({ state: "stopping" });
			const message = expect.stringContaining("ended at PAUSE");
			expect(effects).toContainEqual({ kind: "warn", message });
			const known = play([acknowledged(0, 2)], state).state;
			expect(intentOf(known)).toMatchObject({ state: "stopping" });
			for (const inputs of [[waiting], [exited(0, 134), gone(0)]]) {
				const ready = play(inputs, known, alone).state;
				expect(intentOf(ready)).toMatchObject({ state: "ready" });
			}
		});

		it("where it has heard and not ended when its time is over, it stays", () => {
			const soon = contextAt(4_000);
			const { state, effects } = play([TIME], play(heard, died).state, soon);
			expect(effects).toEqual([]);
			expect(intentOf(state)).toMatchObject({ state: "ready", failure: {} });
			const [start] = play([work(4)], state).effects;
			expect(start?.kind === "start-workers" && start.kept.has(0)).toBe(true);
		});

		it("where it dies once more before it has heard of its WORK, says so", () => {
			const next = [left(3), acknowledged(0, 2), waiting, work(4)];
			const { state } = play([...next, exited(0, 134)], died);
			const { failure } = intentOf(state) ?? {};
			expect(failure).toMatchObject({ stillIn: 3, isLateAgain: true });
		});

		it("though it has heard of its WORK, as long as it has not waited for work: the same", () => {
			const aware = [work(2), acknowledged(0, 3), exited(0, 134)];
			const { failure } = intentOf(play(aware, PAUSED).state) ?? {};
			expect(failure).toMatchObject({ stillIn: 1 });
			const next = play([...aware, ...again, left(3)], PAUSED, alone).state;
			expect(intentOf(next)).toMatchObject({ state: "stopping" });
		});

		it("the time for it is twice what the one before it took, and 3 s", () => {
			const begin = play([work(2), acknowledged(0, 3)], PAUSED, alone).state;
			const then = contextAt(1_400, REPLACE);
			const { state, effects } = play(
				[exited(0, 134), ...again, left(3)],
				begin,
				then,
			);
			expect(deadlineOf(state)).toBe(5_200);
			const message = expect.stringContaining("for 4 s at most");
			expect(effects).toContainEqual({ kind: "warn", message });
		});

		it("long after its PAUSE: the next one is not waited for", () => {
			const begin = play([work(2), acknowledged(0, 3)], PAUSED, alone).state;
			const then = contextAt(6_001, REPLACE);
			const next = play([exited(0, 134), ...again, left(3)], begin, then).state;
			expect(intentOf(next)).toMatchObject({ state: "ready" });
		});

		it("is no less waited for when it has not answered, either", () => {
			const unheard = [left(3), acknowledged(1, 6)];
			const silentToo = play(
				[TIME, TIME],
				play(unheard, died).state,
				late,
			).state;
			const anew = [exited(0, 143), gone(0), work(4), greeted(0), left(4)];
			const { state } = play([...anew, acknowledged(0, 2)], silentToo);
			expect(intentOf(state)).toMatchObject({ state: "stopping" });
		});
	});

	it("one that was waiting for work when the PAUSE came is not waited for", () => {
		const { state } = play([waiting, left(3)], ended);
		expect(intentOf(state)).toMatchObject({ state: "ready" });
	});

	it("that never answered: the round waits for an answer, and for that alone", () => {
		const { state } = play([left(2)], silent);
		expect(intentOf(state)).toMatchObject({ state: "stopping" });
		const answered = [acknowledged(0, 2), acknowledged(1, 4)];
		const { state: heard } = play(answered, state);
		expect(intentOf(heard)).toMatchObject({ state: "ready" });
		const { state: paused } = play([work(3), left(3)], heard);
		expect(intentOf(paused)).toMatchObject({ state: "ready" });
	});

	it("that never answered: neither does the next one, which is started anew in the same round", () => {
		const waiting = play([left(2), acknowledged(1, 4)], silent).state;
		const { state, effects } = play([TIME], waiting, late);
		expect(effects).toMatchObject([
			{ kind: "terminate", localRanks: [0] },
			{ kind: "warn" },
		]);
		const next = play([exited(0, 143), gone(0), work(3)], state);
		expect(next.state.phase).toBe("RUNNING");
		expect(deadlineOf(next.state)).toBeUndefined();
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
			state: "ready",
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

	it("is heard no more when the round is left in time", () => {
		const { state } = play([waits(1), left(1), acknowledged(0, 2)], RUNNING);
		expect(deadlineOf(state)).toBe(61_000);
	});
});

describe("the end", () => {
	it("paused workers end before the agent closes with the outcome", () => {
		const outcome = {
			result: "failed",
			exitCode: 3,
			reason: "fewer than MIN",
			root: null,
		} as const;
		const { state, effects } = play(
			[seen(1, { deprecated: 1, outcome })],
			PAUSED,
		);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
		const ended = play(
			[exited(0, 143), gone(0), exited(1, 143), gone(1)],
			state,
		);
		expect(ended.state).toMatchObject({
			phase: "CLOSED",
			ending: { exitCode: 3 },
		});
	});

	it("paused workers end before the agent leaves", () => {
		const stop: AgentInput = {
			kind: "stop-asked",
			exitCode: 143,
			reason: "SIGTERM",
			immediately: false,
		};
		const { state, effects } = play([stop], PAUSED);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
		expect(intentOf(state)).toMatchObject({ state: "leaving" });
		const killed = play([{ ...stop, immediately: true }], state);
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0, 1] }]);
	});

	it("a finished node stays finished when the world changes", () => {
		const finished = play(
			[exited(0, 0), gone(0), exited(1, 0), gone(1)],
			RUNNING,
		).state;
		const { state } = play([left(1), seen(2, { deprecated: 1 })], finished);
		expect(state.phase).toBe("FINISHED");
		expect(intentOf(state)).toMatchObject({ state: "finished", claim: 1 });
	});

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
			PAUSED,
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
