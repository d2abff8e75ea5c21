import { expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

/** Node a has reported a failure in the round that it runs with b. */
function planFailure(maxRestarts: number, isRecreated: boolean) {
	const view = runView(
		{ synced: 1, planId: "plan-1", seats: 2 },
		[
			nodeRecord("a", {
				state: "stopping",
				claim: 2,
				failure: nodeFailure("a"),
			}),
			nodeRecord("b", { state: "running" }),
		],
		{ seats: { a: seatRecord("a"), b: seatRecord("b", { groupRank: 1 }) } },
	);
	const config = runSpec({ maxRestarts, isRecreated });
	const time = { now: 0, wallTime: 0 };
	const { plan } = planRound(view, EMPTY_MEMORY, config, "plan-2", time);
	return plan && "round" in plan ? plan.round : expect.unreachable();
}

it("pays for an incident at once where no process outlives its round, and ends the run if the budget is spent", () => {
	expect(planFailure(1, true)).toMatchObject({ charged: 1, outcome: null });
	expect(planFailure(1, true).unpaid).toBeUndefined();
	expect(planFailure(0, true).outcome).toMatchObject({ exitCode: 1 });
});

it("leaves the charge open where the next round shows whether a node has gone", () => {
	const { charged, unpaid, outcome } = planFailure(0, false);
	expect(charged).toBe(0);
	expect(unpaid).toBeDefined();
	expect(outcome).toBeNull();
});
