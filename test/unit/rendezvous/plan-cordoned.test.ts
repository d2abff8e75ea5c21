import { expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView, seatRecord } from "../../helpers/run-view.js";

const plan = (view: RunView, minNodes = 1, cordoned = ["b"]) =>
	planRound(
		{ ...view, cordoned: new Set(cordoned) },
		EMPTY_MEMORY,
		{ ...runSpec(), minNodes, maxNodes: 3 },
		"plan-2",
		{ now: 0, wallTime: 0 },
	);

const SEATS = { a: seatRecord("a"), b: seatRecord("b", { groupRank: 1 }) };
const LEFT = { synced: 1, deprecated: 1, planId: "plan-1", seats: 2 };
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });

it("a cordoned node finishes its round", () => {
	const running = (nodeId: string) => nodeRecord(nodeId, { state: "running" });
	const view = runView(
		{ ...LEFT, deprecated: 0 },
		[running("a"), running("b")],
		{ seats: SEATS },
	);
	expect(plan(view).plan).toBeUndefined();
});

it("a cordoned node has no seat in the next round, which does not wait for it", () => {
	for (const state of ["ready", "stopping"] as const) {
		const view = runView(LEFT, [ready("a"), ready("b", { state })], {
			seats: SEATS,
		});
		const { plan: lift } = plan(view);
		expect(lift).toMatchObject({ kind: "lift", round: { seats: 1 } });
	}
});

it("a cordoned node is no newcomer", () => {
	const view = runView(
		{ ...LEFT, deprecated: 0, seats: 1 },
		[nodeRecord("a", { state: "running" }), ready("b")],
		{ seats: { a: seatRecord("a") } },
	);
	expect(plan(view).plan).toBeUndefined();
});

it("where too few others are there, the wait names the cordoned node", () => {
	const view = runView(LEFT, [ready("a"), ready("b")], { seats: SEATS });
	const { plan: nothing, reason } = plan(view, 2);
	expect(nothing).toBeUndefined();
	expect(reason).toContain("; cordoned: b");
});

it("where all nodes are cordoned, the wait says that they are here and kept out", () => {
	const view = runView(LEFT, [ready("a"), ready("b")], { seats: SEATS });
	const { awaited, reason, until } = plan(view, 1, ["a", "b"]);
	expect(reason).toBe("0 of at least 1 nodes are ready; cordoned: a, b");
	expect(awaited).toMatchObject({
		...{ kind: "minimum", needed: 1, missing: { count: 0 } },
		cordoned: { names: ["a", "b"] },
	});
	expect(until).toBeDefined();
});

it("no round waits for a cordoned node that comes back", () => {
	const back = { state: "joining", incarnation: "b-2", claim: 1 } as const;
	const view = runView(LEFT, [ready("a"), ready("b", back)], { seats: SEATS });
	const again = { ...view, recreated: new Map([["b", "b-1"]]) };
	for (const seen of [view, again]) {
		expect(plan(seen).plan).toMatchObject({ kind: "lift" });
	}
});
