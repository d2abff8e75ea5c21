import { describe, expect, it } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView, seatRecord } from "../../helpers/run-view.js";

const CONFIG = runSpec({ finishedStay: true });
const NOW = 5_000;

function plan(
	view: RunView,
	change: Partial<PlannerConfig> = {},
	memory: PlannerMemory = EMPTY_MEMORY,
	now = NOW,
) {
	const time = { now, wallTime: 0 };
	return planRound(view, memory, { ...CONFIG, ...change }, "plan-2", time);
}

/** Node b has finished round 1, which is left because a's worker failed. */
const OPEN = { synced: 1, deprecated: 1, planId: "plan-1", seats: 2 };
const SEATS = {
	a: seatRecord("a"),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });
const finished = nodeRecord("b", { state: "finished" });

describe("a round that is left after a node has finished", () => {
	const view = (...nodes: readonly NodeRecord[]) =>
		runView(OPEN, nodes, { seats: SEATS, finished: ["b"] });

	it("begins again without it: it counts towards MIN and gets no seat", () => {
		const { plan: lift } = plan(view(ready("a"), finished));
		if (lift?.kind !== "lift") expect.unreachable();
		expect([...lift.seats.keys()]).toEqual(["a"]);
		expect(lift.round).toMatchObject({ synced: 2, seats: 1 });
		expect(lift.round.world).toMatchObject({ worldSize: 2, groupWorldSize: 1 });
	});

	it("waits for somebody who does the rest, and fails without", () => {
		const alone = view(finished);
		const words =
			"0 ready and 1 finished, of at least 1 nodes; no node is left for the rest; missing: a";
		const waits = plan(alone, { minNodes: 1 });
		expect(waits).toMatchObject({ plan: undefined, reason: words });
		expect(waits.awaited).toMatchObject({ kind: "minimum", needed: 1 });
		const late = NOW + 600_000;
		expect(plan(alone, { minNodes: 1 }, waits.memory, late).plan).toMatchObject(
			{
				round: {
					outcome: {
						exitCode: 3,
						reason: `rendezvous timed out after 600 s: ${words}`,
					},
				},
			},
		);
	});

	it.each<[string, readonly NodeRecord[]]>([
		["that had seemed gone", []],
		["beside newcomers", [finished, ready("c"), ready("d")]],
	])("succeeds when all members have finished after all, %s", (_, nodes) => {
		const all = { ...view(...nodes), finished: new Set(["a", "b"]) };
		expect(plan(all)).toMatchObject({
			plan: { round: { outcome: { result: "succeeded", exitCode: 0 } } },
			reason: "all nodes have finished",
		});
		expect(plan(all, { finishedStay: false }).plan).not.toMatchObject({
			round: { outcome: { result: "succeeded" } },
		});
	});

	it("takes it in again under a policy by which the finished rejoin", () => {
		const rejoined = view(ready("a"), ready("b"));
		const { plan: lift } = plan(rejoined, { finishedStay: false });
		if (lift?.kind !== "lift") expect.unreachable();
		expect([...lift.seats.keys()]).toEqual(["a", "b"]);
	});
});

describe("a round without a node that had finished before", () => {
	const ROUND_2 = { synced: 2, deprecated: 1, planId: "plan-2", seats: 1 };
	const SEAT_2 = { a: seatRecord("a", { planId: "plan-2", round: 2 }) };
	const view = (
		nodes: readonly NodeRecord[],
		finishedNow: readonly string[] = [],
	) =>
		runView(ROUND_2, nodes, {
			...{ seats: SEAT_2, done: ["b"], finished: finishedNow },
		});
	const running = nodeRecord("a", { state: "running", claim: 2 });

	it("succeeds when all that have a seat have finished", () => {
		expect(plan(view([running], ["a"])).plan).toMatchObject({
			round: { outcome: { result: "succeeded", exitCode: 0 } },
		});
	});
});
