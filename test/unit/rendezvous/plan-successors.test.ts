import { describe, expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const CONFIG = { ...runSpec(), minNodes: 1, maxNodes: 2, settleTimeoutMs: 50 };
/** Round 1 was left because of node b's worker. */
const ROUND = {
	...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 2 },
	...{ incidents: 1, unpaid: nodeFailure("b") },
};
const SEATS = {
	a: seatRecord("a"),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const ENDED = new Map([
	["a", "a-1"],
	["b", "b-1"],
]);
const successor = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, {
		...{ incarnation: `${nodeId}-2`, succeeds: `${nodeId}-1`, claim: 2 },
		...change,
	});
const plan = (
	nodes: readonly NodeRecord[],
	{ recreated = ENDED, now = 0, memory = EMPTY_MEMORY } = {},
) => {
	const view = { ...runView(ROUND, nodes, { seats: SEATS }), recreated };
	return planRound(view, memory, CONFIG, "plan-2", { now, wallTime: 0 });
};

describe("J13 members that end to be started again", () => {
	it("keep their ranks, whichever comes first, and the failure is paid for", () => {
		const { plan: lift } = plan([successor("b"), successor("a")]);
		expect(lift).toMatchObject({
			kind: "lift",
			round: { synced: 2, charged: 1, unpaid: undefined },
			story: { joined: [], left: [] },
		});
		if (lift?.kind !== "lift") throw new Error("no lift");
		expect([...lift.seats]).toMatchObject([
			["a", { groupRank: 0, incarnation: "a-2", previous: { groupRank: 0 } }],
			["b", { groupRank: 1, incarnation: "b-2", previous: { groupRank: 1 } }],
		]);
	});

	it.each<[string, readonly NodeRecord[]]>([
		["are gone", []],
		["are leaving", [nodeRecord("b", { state: "leaving", claim: 2 })]],
		["are back and not ready", [successor("b", { state: "joining" })]],
	])("are waited for where they %s, until the settle time is over", (_, others) => {
		const nodes = [successor("a"), ...others];
		const waits = plan(nodes);
		expect(waits.reason).toBe("waiting for b");
		const later = plan(nodes, { now: 60, memory: waits.memory });
		expect(later.plan).toMatchObject({
			kind: "lift",
			round: { charged: 1, seats: 1 },
		});
	});
});
