import { describe, expect, it } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type {
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const CONFIG = runSpec({ minNodes: 1, maxNodes: 2 });

function plan(view: RunView, memory: PlannerMemory = EMPTY_MEMORY, now = 0) {
	const time = { now, wallTime: 0 };
	return planRound(view, memory, CONFIG, "plan-2", time);
}

function updateOf(view: RunView, memory?: PlannerMemory, now?: number) {
	const { plan: update, reason } = plan(view, memory, now);
	if (update?.kind !== "update") return expect.unreachable(reason);
	return { ...update, reason };
}

function liftOf(view: RunView, memory?: PlannerMemory, now?: number) {
	const { plan: lifted, reason } = plan(view, memory, now);
	if (lifted?.kind !== "lift") return expect.unreachable(reason);
	return { ...lifted, reason };
}

const WISH = nodeFailure("b", {
	failure: failureRecord("b", { rank: 2, description: "waits for another" }),
	charge: "node",
	unaware: true,
	isWish: true,
});
const RUNS = { synced: 1, planId: "plan-1", seats: 2 };
const SEATS = {
	a: seatRecord("a"),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });
const wishing = ready("b", { failure: WISH });
const running = nodeRecord("a", { state: "running" });

const view = (
	round: Partial<RoundRecord>,
	...nodes: readonly NodeRecord[]
): RunView => runView(round, nodes, { seats: SEATS });

describe("a round that is left because a worker waits for another one", () => {
	const left = updateOf(view(RUNS, running, wishing));
	const open = (...nodes: readonly NodeRecord[]) => view(left.round, ...nodes);

	it("is an incident that nobody has paid for yet", () => {
		expect(left.round).toMatchObject({ deprecated: 1, incidents: 1 });
		expect(left.round.unpaid).toEqual(WISH);
		expect(left.budgets.size).toBe(0);
	});

	it("is known as a wish by the next round where all come back, and not where one has gone", () => {
		expect(liftOf(open(ready("a"), wishing)).round.cause.isWish).toBe(true);
		const alone = liftOf(open(wishing), EMPTY_MEMORY, 60_000);
		expect(alone.round.cause.isWish).toBeUndefined();
	});

	it("is paid for by the one budget where all come back, as the next round begins", () => {
		const paid = liftOf(open(ready("a"), wishing));
		expect(paid.round).toMatchObject({
			synced: 2,
			incidents: 1,
			outcome: null,
		});
		expect(paid.round.unpaid).toBeUndefined();
		expect([...paid.budgets]).toMatchObject([["b", { charged: 1 }]]);
	});

	it("ends the run where it is paid for by a budget that is spent", () => {
		const spent = { ...WISH, charge: "run" as const };
		const round = { ...left.round, charged: 1, unpaid: spent };
		const paid = updateOf(view(round, ready("a"), wishing));
		expect(paid.round).toMatchObject({ charged: 2, outcome: { exitCode: 1 } });
	});

	it.each<[string, readonly NodeRecord[], string]>([
		["has vanished", [], "a left: lease expired"],
		[
			"leaves",
			[ready("a", { state: "leaving", cause: "SIGTERM" })],
			"a left: SIGTERM",
		],
		[
			"is another process",
			[ready("a", { incarnation: "a-2" })],
			"a was restarted",
		],
	])("costs nothing where a member %s", (_, others, reason) => {
		const free = liftOf(open(...others, wishing));
		expect(free.round).toMatchObject({
			...{ incidents: 0, charged: 0 },
			cause: { kind: "scale-down", reason, root: null },
		});
		expect(free.round.unpaid).toBeUndefined();
		expect(free.budgets.size).toBe(0);
	});

	it("is a failure's incident as soon as there is one, and costs one", () => {
		const failed = ready("a", { failure: nodeFailure("a") });
		const found = updateOf(open(failed, wishing));
		expect(found.round).toMatchObject({
			...{ incidents: 1, charged: 0, unpaid: { failure: { nodeId: "a" } } },
			cause: { root: { nodeId: "a" } },
		});
	});

	it("is a failure's incident where both are seen at once, though the wish was said first", () => {
		const failed = ready("a", { failure: nodeFailure("a") });
		const found = updateOf(view(RUNS, wishing, failed));
		expect(found.round).toMatchObject({
			...{ incidents: 1, charged: 0, deprecated: 1 },
			...{ unpaid: { failure: { nodeId: "a" } } },
			cause: { root: { nodeId: "a" } },
		});
		expect(found.round.accounted).toHaveLength(2);
		expect(found.budgets.size).toBe(0);
	});

	it("is not paid for twice where two wait", () => {
		const other = nodeFailure("a", { charge: "node", isWish: true });
		const both = updateOf(open(ready("a", { failure: other }), wishing));
		expect(both.round).toMatchObject({ incidents: 1, unpaid: WISH });
	});
});

it("is no part of a failure's bill: a wish after a failure joins its incident", () => {
	const round = roundRecord({
		...RUNS,
		deprecated: 1,
		incidents: 1,
		charged: 1,
	});
	const { failure } = nodeFailure("a");
	const caused = { ...round, cause: { ...round.cause, root: failure } };
	const joined = updateOf(view(caused, ready("a"), wishing));
	expect(joined.round).toMatchObject({ incidents: 1, charged: 1 });
	expect(joined.round.unpaid).toBeUndefined();
});
