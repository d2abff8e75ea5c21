import { describe, expect, it, test } from "vitest";
import { transition } from "../../../src/agent/machine/decide.js";
import type { TransitionContext } from "../../../src/agent/machine/inputs.js";
import { intentOf } from "../../../src/agent/machine/record.js";
import {
	type AgentState,
	type Ending,
	INITIAL_STATE,
	type Stopping,
} from "../../../src/agent/machine/state.js";
import { chosenCode } from "../../../src/agent/presence/build-report.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type { RoundView } from "../../../src/rendezvous/member/membership.js";
import {
	failureRecord,
	nodeFailure,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";
import { workerSlot as slot } from "../../helpers/worker-slots.js";
import { contextAt, STOP } from "./soft-agent.js";

const CONTEXT: TransitionContext = {
	...contextAt(1_000, new HardRestartPolicyStrategy()),
	isRecreated: true,
	isSpent: ({ charged }) => charged >= 3,
};
const SEAT = seatRecord("a");
const UNPAID = nodeFailure("a");
const view = (
	change: Parameters<typeof roundRecord>[0] = {},
	departure?: "recreated",
): RoundView => ({
	round: roundRecord({
		...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 1 },
		...{ unpaid: UNPAID, ...change },
	}),
	seat: SEAT,
	departure,
});
const COMMON = {
	...INITIAL_STATE,
	...{ view: view(), instance: 1, failure: UNPAID, failuresReported: 1 },
	...{ round: 1, seat: SEAT, claim: 2 },
};
const STOPPING: Stopping = {
	...COMMON,
	phase: "STOPPING",
	workers: [slot(0, { killAt: 31_000 })],
};
const gone = (state: Stopping, context = CONTEXT) =>
	transition(state, { kind: "worker-gone", localRank: 0 }, context).state;

describe("J13 an agent that ends instead of restarting its workers", () => {
	const leaving = gone(STOPPING);

	it("says so first, and goes when the store knows it", () => {
		expect(intentOf(leaving)).toMatchObject({
			...{
				state: "leaving",
				claim: 2,
				departure: "recreated",
				failure: UNPAID,
			},
		});
		const see = (now: RoundView) =>
			transition(leaving, { kind: "round-seen", view: now }, CONTEXT).state;
		expect(see(view())).toMatchObject({ phase: "STOPPING" });
		expect(see(view({}, "recreated"))).toMatchObject({
			phase: "CLOSED",
			ending: { outcome: "left", exitCode: 76, root: UNPAID.failure },
		});
	});

	it("does not go before the others know that its round is over", () => {
		const early = view({ deprecated: 0 }, "recreated");
		const input = { kind: "round-seen", view: early } as const;
		expect(transition(leaving, input, CONTEXT).state.phase).toBe("STOPPING");
	});

	it("obeys a stop signal meanwhile, and the run's outcome", () => {
		const stopped = transition(leaving, STOP, CONTEXT).state;
		expect(stopped).toMatchObject({
			phase: "CLOSED",
			ending: { exitCode: STOP.exitCode },
		});
		const result = "failed" as const;
		const outcome = { result, exitCode: 1, reason: "spent", root: null };
		const input = { kind: "round-seen", view: view({ outcome }) } as const;
		expect(transition(leaving, input, CONTEXT).state).toMatchObject({
			ending: { exitCode: 1, outcome: "failed" },
		});
	});

	it("ends as well when it had finished and its round is repeated", () => {
		const { view: _, ...common } = COMMON;
		const finished: AgentState = {
			...{ ...common, phase: "FINISHED", planId: "plan-1" },
			view: view({ deprecated: 0 }),
		};
		const input = { kind: "round-seen", view: view() } as const;
		expect(intentOf(transition(finished, input, CONTEXT).state)).toMatchObject({
			...{ state: "leaving", claim: 2, departure: "recreated" },
		});
	});

	it("starts no workers when it has waited for an outcome and got a seat", () => {
		const waiting: AgentState = { ...COMMON, phase: "JOINING", workers: [] };
		const seat = { ...SEAT, round: 2, planId: "plan-2" };
		const begun = view({ synced: 2, planId: "plan-2", unpaid: undefined });
		const input = { kind: "round-seen", view: { ...begun, seat } } as const;
		const { state, effects } = transition(waiting, input, CONTEXT);
		expect(effects).toEqual([]);
		expect(intentOf(state)).toMatchObject({
			...{ state: "leaving", claim: 3, departure: "recreated" },
		});
		const left = view({ ...begun.round, deprecated: 2 }, "recreated");
		const next = { kind: "round-seen", view: left } as const;
		expect(transition(state, next, CONTEXT).state).toMatchObject({
			ending: { exitCode: 76 },
		});
	});

	it.each<[string, Partial<Stopping>, Partial<TransitionContext>]>([
		["in place", {}, { isRecreated: false }],
		["was in no round yet", { round: 0, seat: null }, {}],
		[
			"whose failure may have spent the run's budget",
			{ view: view({ charged: 3 }) },
			{},
		],
		[
			"that keeps a worker",
			{ workers: [slot(0, { killAt: 31_000 }), slot(1, { status: "paused" })] },
			{},
		],
	])("claims the next round itself: one %s", (_, state, context) => {
		const after = gone({ ...STOPPING, ...state }, { ...CONTEXT, ...context });
		expect(after).toMatchObject({ phase: "JOINING", claim: 2 });
	});
});

const root = failureRecord("a", { exitCode: 9 });
const codes = { replaceNode: 85, restart: 86, isPropagated: false };
test.each<[Ending["outcome"], number, typeof root | null, boolean, number]>([
	["left", 75, null, false, 85],
	["left", 76, null, false, 86],
	["left", 143, null, false, 143],
	["failed", 1, root, false, 1],
	["failed", 1, root, true, 9],
	["failed", 1, null, true, 1],
	["failed", 75, root, true, 75],
	["failed", 3, root, true, 3],
	["left", 1, root, true, 1],
	["stopped", 5, root, true, 5],
	["succeeded", 0, null, true, 0],
])("J15 %s with %d, root %o, propagated: %s: exit code %d", (...row) => {
	const [outcome, exitCode, root, isPropagated, expected] = row;
	const ending = { outcome, exitCode, reason: "why", root };
	expect(chosenCode(ending, { ...codes, isPropagated })).toBe(expected);
});
