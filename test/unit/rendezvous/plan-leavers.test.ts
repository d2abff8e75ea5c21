import { expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView, seatRecord } from "../../helpers/run-view.js";

const SEATS = { a: seatRecord("a"), b: seatRecord("b", { groupRank: 1 }) };
const LEFT = { synced: 1, deprecated: 1, planId: "plan-1", seats: 2 };
const spare = nodeRecord("c", { claim: 2 });

/** By a coordinator that has seen nothing before. */
const plan = (
	nodes: readonly NodeRecord[],
	left: Readonly<Record<string, string>>,
	synced = LEFT,
) =>
	planRound(
		{
			...runView(synced, nodes, { seats: SEATS }),
			left: new Map(Object.entries(left)),
		},
		EMPTY_MEMORY,
		{ ...runSpec(), minNodes: 1 },
		...(["plan-2", { now: 0, wallTime: 0 }] as const),
	);

it("P3 where all members have left in order, the spares begin without a wait for them", () => {
	const lift = { kind: "lift", round: { seats: 1 } };
	expect(plan([spare], { a: "a-1", b: "b-1" }).plan).toMatchObject(lift);
	const leaving = nodeRecord("a", { state: "leaving" });
	expect(plan([leaving, spare], { b: "b-1" }).plan).toMatchObject(lift);
});

it("where one of them has vanished, or another process of its has left, it is waited for: the store may have been unreachable", () => {
	expect(plan([spare], { a: "a-0", b: "b-1" })).toMatchObject({
		...{ plan: undefined, reason: "waiting for a" },
	});
});
