import { describe, expect, it } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { AgentInput } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	deadlineOf,
	INITIAL_STATE,
	type Leaving,
	type Running,
	type Stopping,
} from "../../../src/agent/machine/state.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type { RestartPolicyStrategy } from "../../../src/policies/strategy.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";
import { contextAt, exited, STOP, TIME } from "./soft-agent.js";

const CONTEXT = contextAt(1_000, new HardRestartPolicyStrategy());
const SOFT = contextAt(1_000);

const SEAT = seatRecord("a");
const ROUND = roundRecord({
	synced: 1,
	planId: "plan-1",
	seats: 1,
	world: { ...WORLD, groupWorldSize: 1 },
});
const OUTCOME = {
	result: "failed",
	exitCode: 1,
	reason: "spent",
	root: null,
} as const;

const COMMON = {
	...INITIAL_STATE,
	view: { round: ROUND, seat: SEAT },
	instance: 1,
	failure: null,
	failuresReported: 0,
};
const JOINING: AgentState = {
	...COMMON,
	phase: "JOINING",
	round: 0,
	seat: null,
	workers: [],
	claim: 1,
};
const RUNNING: Running = {
	...COMMON,
	phase: "RUNNING",
	round: 1,
	seat: SEAT,
	claim: 1,
	workers: [slot(0), slot(1)],
};
const LEAVE: Leaving = {
	exitCode: 143,
	reason: "SIGTERM",
	leaveBy: null,
};
const STOPPING: Stopping = {
	...COMMON,
	phase: "STOPPING",
	round: 1,
	seat: SEAT,
	claim: 2,
	workers: [slot(0, { killAt: 31_000 }), slot(1, { status: "gone" })],
};
const OVERDUE = [slot(0, { killAt: 900 })];
const FINISHED: AgentState = {
	...COMMON,
	phase: "FINISHED",
	round: 1,
	planId: "plan-1",
};
const ALL_GONE: Stopping = {
	...STOPPING,
	workers: [slot(0, { status: "gone" }), slot(1, { status: "gone" })],
};

const seen = (change: Partial<RoundRecord>, seat = true): AgentInput => ({
	kind: "round-seen",
	view: { round: { ...ROUND, ...change }, seat: seat ? SEAT : null },
});
const LOST: AgentInput = {
	kind: "session-lost",
	reason: "lease expired",
	fenceAt: 1_500,
};

/** Its timer rings at these times, and nothing else happens. */
function passTime(state: AgentState, ...times: readonly number[]): AgentState {
	return times.reduce(
		(before, now) => transition(before, TIME, { ...CONTEXT, now }).state,
		state,
	);
}

describe("JOINING", () => {
	it("leaves with 3 where what it sees first is a later start of the run than it has joined", () => {
		const view = { round: { ...ROUND, instance: 9 }, seat: null, joined: 8 };
		const seen: AgentInput = { kind: "round-seen", view };
		const { state } = transition(INITIAL_STATE, seen, CONTEXT);
		const reason =
			"the run was restarted meanwhile, or etcd came back from an older copy (instance 9 instead of 8)";
		expect(state).toMatchObject({ ending: { exitCode: 3, reason } });
	});

	it("starts its workers only on a seat of the round and plan that are synced", () => {
		const start = transition(JOINING, seen({}), CONTEXT);
		expect(start.effects).toMatchObject([
			{ kind: "start-workers", seat: SEAT },
		]);
		const stale = transition(JOINING, seen({ planId: "plan-9" }), CONTEXT);
		expect(stale.effects).toEqual([]);
		expect(intentOf(stale.state)).toMatchObject({ state: "ready", claim: 2 });
	});
});

describe("RUNNING", () => {
	it("reports a failure and stops the others, with a grace", () => {
		const { state, effects, reason } = transition(
			RUNNING,
			exited(1, 9),
			CONTEXT,
		);
		expect(reason).toBe("rank 1 failed: exit code 9");
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0, 1] }]);
		expect(deadlineOf(state)).toBe(31_000);
		expect(intentOf(state)).toMatchObject({
			state: "stopping",
			claim: 2,
			failure: { charge: "run", failsRun: null, failure: { id: "a/a-1/1" } },
		});
	});

	it("passes its own signal on first, then SIGTERM at half of the grace, to those that are still there", () => {
		const stop = { ...STOP, signal: "SIGINT" } as const;
		const { state, effects } = transition(RUNNING, stop, CONTEXT);
		expect(effects).toEqual([
			{ kind: "terminate", localRanks: [0, 1], signal: "SIGINT" },
		]);
		expect(deadlineOf(state)).toBe(16_000);
		const gone: AgentInput = { kind: "worker-gone", localRank: 0 };
		const oneLeft = transition(state, gone, CONTEXT).state;
		const half = transition(oneLeft, TIME, { ...CONTEXT, now: 16_000 });
		expect(half.effects).toEqual([{ kind: "terminate", localRanks: [1] }]);
		expect(deadlineOf(half.state)).toBe(31_000);
		const late = { ...CONTEXT, now: 31_000 };
		expect(transition(half.state, TIME, late).effects).toEqual([
			{ kind: "kill", localRanks: [1] },
		]);
		const second = { ...stop, immediately: true };
		expect(transition(state, second, CONTEXT).effects).toEqual([
			{ kind: "kill", localRanks: [0, 1] },
		]);
	});

	it("ends what a successful worker left behind: SIGTERM, and SIGKILL after the grace", () => {
		const { state, effects } = transition(RUNNING, exited(0, 0, true), CONTEXT);
		expect(effects).toEqual([{ kind: "terminate", localRanks: [0] }]);
		const later = { ...CONTEXT, now: 31_000 };
		const killed = transition(state, TIME, later);
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
		expect(deadlineOf(killed.state)).toBe(34_000);
		const gone: AgentInput = { kind: "worker-gone", localRank: 0 };
		const { state: after } = transition(killed.state, gone, later);
		expect(deadlineOf(after)).toBeUndefined();
	});

	it("leaves with 75, naming the pid, where SIGKILL does not end what a worker left behind (J6)", () => {
		const { state } = transition(RUNNING, exited(0, 0, true), CONTEXT);
		const killed = transition(state, TIME, { ...CONTEXT, now: 31_000 });
		const left = passTime(killed.state, 34_000, 36_000);
		const [first] = RUNNING.workers;
		expect(left).toMatchObject({
			phase: "STOPPING",
			leaving: { exitCode: 75 },
		});
		expect(intentOf(left)?.cause).toContain(`pid ${first?.pid} (local rank 0)`);
		expect(intentOf(left)?.cause).toContain("SIGKILL");
	});

	it.each([
		["ENOENT", 127],
		["EACCES", 126],
		["E2BIG", 126],
		["ERR_INVALID_ARG_VALUE", 126],
	])("ends the run at once where trying again cannot help: %s", (code, exitCode) => {
		const { state } = transition(
			RUNNING,
			{
				kind: "worker-not-started",
				localRank: 0,
				problem: { code, message: "no" },
			},
			CONTEXT,
		);
		expect(intentOf(state)?.failure).toMatchObject({
			failsRun: exitCode,
			charge: "nothing",
		});
	});

	it.each(
		[
			...["UNPREPARED", "EAGAIN", "ENOMEM", "EMFILE", "ENFILE"],
			...["ENOSPC", "EDQUOT"],
		].flatMap((code) => [
			{
				...{ code, does: "ends the run where it is the only node" },
				...{ seats: 1, expected: { failure: { failsRun: 1 } } },
			},
			{
				...{ code, does: "leaves with 75, for the others may go on", seats: 2 },
				expected: {
					state: "leaving",
					failure: null,
					cause: "rank 0 cannot be started: no room",
				},
			},
		]),
	)("cannot start its workers for $code, which is this node's: $does", ({
		code,
		seats,
		expected,
	}) => {
		const view = { seat: SEAT, round: { ...ROUND, seats } };
		const problem = { code, message: "no room" };
		const { state } = transition(
			{ ...RUNNING, view },
			{ kind: "worker-not-started", localRank: 0, problem },
			CONTEXT,
		);
		expect(intentOf(state)).toMatchObject(expected);
		expect(state.leaving?.exitCode).toBe(seats > 1 ? 75 : undefined);
	});
});

describe("a user's own policy", () => {
	const withPolicy = (onWorkerFailure: () => unknown) => {
		const policy = {
			name: "mine",
			onScaleUp: onWorkerFailure,
			onScaleDown: onWorkerFailure,
			onWorkerFailure,
		} as RestartPolicyStrategy;
		return transition(RUNNING, exited(0, 3), { ...CONTEXT, policy });
	};

	it("may fail the run", () => {
		const { state } = withPolicy(() => ({
			workers: "fail-run",
			charge: "nothing",
			reason: "3 is fatal",
		}));
		expect(intentOf(state)?.failure).toMatchObject({ failsRun: 1 });
	});

	it.each([
		["an unknown action", () => ({ workers: "x", charge: "run", reason: "r" })],
		["no reason", () => ({ workers: "restart", charge: "run", reason: "" })],
		[
			"an exception",
			() => {
				throw new Error("boom");
			},
		],
	])("that decides %s fails the run, naming the policy", (_, decide) => {
		const { state, reason } = withPolicy(decide);
		expect(intentOf(state)?.failure).toMatchObject({ failsRun: 1 });
		expect(reason).toContain('restart policy "mine"');
	});
});

describe("STOPPING", () => {
	const gone: AgentInput = { kind: "worker-gone", localRank: 0 };

	it.each([
		["has not heard yet that its round is over", 0, 1],
		["knows that its round is over", 1, undefined],
	])("says that it was cut off where it %s", (_, deprecated, fencedIn) => {
		const view = { seat: SEAT, round: { ...ROUND, deprecated } };
		const joining: AgentState = { ...JOINING, round: 1, claim: 2, view };
		for (const state of [{ ...STOPPING, view }, joining]) {
			const lost = transition(state, LOST, CONTEXT).state;
			expect(intentOf(lost)?.fencedIn).toBe(fencedIn);
		}
	});

	it("takes the run's outcome over its own plans", () => {
		const ended = { ...COMMON.view, round: { ...ROUND, outcome: OUTCOME } };
		const { state } = transition(
			{ ...STOPPING, view: ended, leaving: LEAVE },
			gone,
			CONTEXT,
		);
		expect(state).toMatchObject({ ending: { outcome: "failed", exitCode: 1 } });
	});

	it("leaves only when the others know that its round is over", () => {
		const leaving = transition({ ...STOPPING, leaving: LEAVE }, gone, CONTEXT);
		expect(leaving.state.phase).toBe("STOPPING");
		expect(deadlineOf(leaving.state)).toBe(3_000);
		const known = transition(leaving.state, seen({ deprecated: 1 }), CONTEXT);
		expect(known.state).toMatchObject({ ending: { exitCode: 143 } });
	});

	it.each([
		["JOINING", { ...JOINING, round: 1, claim: 2 }],
		["STOPPING", ALL_GONE],
	])("lets its word stand where it had left its round before it was asked: %s", (_, state) => {
		const round = { ...ROUND, seats: 2 };
		const from: AgentState = { ...state, view: { seat: SEAT, round } };
		const asked = transition(from, STOP, CONTEXT).state;
		expect(intentOf(asked)).toMatchObject({ state: "leaving", isAsked: true });
		expect(deadlineOf(asked)).toBe(1_500);
		const next = { ...round, synced: 2, planId: "plan-2" };
		for (const after of [
			transition(asked, seen(next, false), CONTEXT),
			transition(asked, TIME, { ...CONTEXT, now: 1_500 }),
		]) {
			expect(after.state).toMatchObject({ ending: { exitCode: 143 } });
		}
	});

	it.each([
		["kills at once a worker that waits for a dead one", 100, 1_000],
		["leaves one its time that has another's pid", 99, 31_000],
	])("A5 %s", (_, pid, killAt) => {
		const stuck = { kind: "worker-stuck", localRank: 0, pid } as const;
		const { state } = transition(STOPPING, stuck, CONTEXT);
		expect(deadlineOf(state)).toBe(killAt);
		const running = transition(RUNNING, stuck, CONTEXT);
		expect(running.state).toEqual(RUNNING);
	});

	it("gives up a process that SIGKILL does not end, and names it", () => {
		const late: AgentState = { ...STOPPING, workers: OVERDUE };
		const killed = transition(late, TIME, CONTEXT);
		expect(killed.effects).toEqual([{ kind: "kill", localRanks: [0] }]);
		expect(passTime(killed.state, 4_000, 6_000)).toMatchObject({
			ending: {
				exitCode: 75,
				reason:
					"not gone 5 s after SIGKILL, stuck in the kernel or another user's: pid 100 (local rank 0)",
			},
		});
	});

	it.each([
		6_000, 6_750, 60_000,
	])("hears what has ended while it was frozen, until %i, before it gives up what SIGKILL does not end", (now) => {
		const awake = passTime({ ...STOPPING, workers: OVERDUE }, 1_000, now);
		expect(deadlineOf(awake)).toBe(now + 2_000);
		const gone: AgentInput = { kind: "worker-gone", localRank: 0 };
		const { state } = transition(awake, gone, { ...CONTEXT, now });
		expect(intentOf(state)).toMatchObject({ state: "ready", claim: 2 });
		const survives = passTime(awake, now + 2_000);
		expect(survives).toMatchObject({ ending: { exitCode: 75 } });
	});
});

describe("FINISHED", () => {
	const told = (plan: string | null, change: Partial<RoundRecord> = {}) => ({
		kind: "round-seen" as const,
		view: { round: { ...ROUND, ...change }, seat: SEAT, finishedPlan: plan },
	});

	it("goes as soon as the store knows that it has done its part, where it is asked to before that", () => {
		const asked = transition(FINISHED, STOP, CONTEXT);
		expect(asked).toMatchObject({
			reason:
				"SIGTERM: goes when the store knows that its workers have succeeded",
			state: { phase: "FINISHED" },
		});
		expect(intentOf(asked.state)).toMatchObject({ finishedPlan: "plan-1" });
		for (const plan of [null, "plan-0"]) {
			const { state } = transition(asked.state, told(plan), CONTEXT);
			expect(state.phase).toBe("FINISHED");
		}
		const { state } = transition(asked.state, told("plan-1"), CONTEXT);
		expect(state).toMatchObject({ ending: { outcome: "left", exitCode: 143 } });
	});

	it("goes at once where the store knows that, or a second time is asked", () => {
		const known = transition(FINISHED, told("plan-1"), CONTEXT).state;
		const asked = transition(FINISHED, STOP, CONTEXT).state;
		for (const { state } of [
			transition(known, STOP, CONTEXT),
			transition(asked, { ...STOP, immediately: true }, CONTEXT),
		]) {
			expect(state).toMatchObject({ ending: { exitCode: 143 } });
		}
	});

	it("goes after two seconds, whatever the store knows, and with the run's outcome where there is one", () => {
		const { state } = transition(FINISHED, STOP, CONTEXT);
		expect(deadlineOf(state)).toBe(3_000);
		const at = (now: number) => transition(state, TIME, { ...CONTEXT, now });
		expect(at(2_999).state.phase).toBe("FINISHED");
		expect(at(3_000).state).toMatchObject({ ending: { exitCode: 143 } });
		const ended = transition(state, seen({ outcome: OUTCOME }), CONTEXT);
		expect(ended.state).toMatchObject({ ending: { exitCode: 1 } });
	});

	it.each([
		[
			"goes where its round is left, in which it would have to work again",
			CONTEXT,
			"CLOSED",
		],
		[
			"is still heard where its round is left and it stays finished",
			SOFT,
			"FINISHED",
		],
	])("%s", (_, context, phase) => {
		const asked = transition(FINISHED, STOP, context).state;
		const left = transition(asked, seen({ deprecated: 1 }), context);
		expect(left.state.phase).toBe(phase);
	});
});
