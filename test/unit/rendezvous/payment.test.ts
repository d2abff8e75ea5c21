import { describe, expect, it } from "vitest";
import { resolveCharge } from "../../../src/rendezvous/planner/payment.js";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type {
	BudgetRecord,
	NodeFailure,
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const FAILED = nodeFailure("b", {
	failure: failureRecord("b", { rank: 1, description: "exit code 9" }),
	unaware: true,
});
const SEATS = {
	a: seatRecord("a"),
	b: seatRecord("b", { groupRank: 1, firstRank: 1 }),
	c: seatRecord("c", { groupRank: 2, firstRank: 2 }),
};
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });

interface Situation {
	readonly unpaid?: NodeFailure;
	readonly nodes: readonly NodeRecord[];
	readonly finished?: readonly string[];
	readonly config?: Partial<PlannerConfig>;
	readonly charged?: number;
}

function settle({
	unpaid = FAILED,
	nodes,
	finished = [],
	config,
	charged = 0,
}: Situation) {
	const round: Partial<RoundRecord> = {
		...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 3 },
		...{ incidents: 1, charged, unpaid },
	};
	const view = runView(round, nodes, { seats: SEATS, finished });
	return resolveCharge(
		view,
		{
			...runSpec(),
			maxRestarts: 1,
			...config,
		},
		0,
	);
}

const ALL = [ready("a"), ready("b"), ready("c")];
const spent = (charged: number): BudgetRecord => ({ version: 1, charged });

describe("a failure that a peer's end may be behind", () => {
	it("is paid for where all are there again, and the next round can begin", () => {
		expect(settle({ nodes: ALL })).toMatchObject({
			...{ goesOn: true, budgets: new Map() },
			round: { incidents: 1, charged: 1, unpaid: undefined, outcome: null },
		});
	});

	it.each<[string, Situation, string]>([
		[
			"whose agent was killed",
			{ nodes: [ready("b"), ready("c")] },
			"a left: lease expired",
		],
		[
			"that leaves",
			{
				nodes: [
					ready("a", { state: "leaving", cause: "SIGTERM" }),
					...[ready("b"), ready("c")],
				],
			},
			"a left: SIGTERM",
		],
		[
			"that was cut off from the store",
			{ nodes: [ready("a", { fencedIn: 1 }), ready("b"), ready("c")] },
			"a was cut off from the store",
		],
		[
			"itself, where somebody told it to go",
			{
				nodes: [
					ready("b", { state: "leaving", cause: "SIGTERM", isAsked: true }),
					...[ready("a"), ready("c")],
				],
			},
			"b left: SIGTERM",
		],
	])("is free where it had a peer %s", (_, situation, reason) => {
		expect(settle(situation)).toMatchObject({
			...{ goesOn: true, budgets: new Map() },
			reason: `${reason}, which explains rank 1 on b: exit code 9`,
			round: {
				...{ incidents: 0, charged: 0, unpaid: undefined },
				cause: { kind: "scale-down", reason, root: null },
			},
		});
	});

	it.each([
		["a notice", { notice: { source: "aws", reason: "r" } }, 1],
		["an order alone", {}, undefined],
	])("P10 counts as a preemption where a peer left on %s", (_, said, count) => {
		const leaver = { state: "leaving", cause: "gone", isAsked: true } as const;
		const nodes = [ready("a", { ...leaver, ...said }), ready("b"), ready("c")];
		const settled = (maxPreemptions: number) =>
			settle({ nodes, config: { maxPreemptions } });
		expect(settled(1)).toMatchObject({ goesOn: true });
		expect(settled(1)?.round.preempted?.count).toBe(count);
		expect(settled(0)?.goesOn).toBe(count === undefined);
	});

	it.each<[string, Situation]>([
		["its own node has gone", { nodes: [ready("a"), ready("c")] }],
		[
			"its own node leaves because of it",
			{ nodes: [ready("a"), ready("b", { state: "leaving" }), ready("c")] },
		],
		[
			"its own node was cut off",
			{ nodes: [ready("a"), ready("b", { fencedIn: 1 }), ready("c")] },
		],
		[
			"another is only late",
			{ nodes: [ready("a", { state: "stopping" }), ready("b"), ready("c")] },
		],
		[
			"the one that is not there had finished",
			{ nodes: [ready("b"), ready("c")], finished: ["a"] },
		],
	])("is paid for where %s", (_, situation) => {
		expect(settle(situation)?.round).toMatchObject({ charged: 1 });
	});

	it("ends the run where its budget is spent by it", () => {
		expect(settle({ nodes: ALL, charged: 1 })).toMatchObject({
			goesOn: false,
			reason: "rank 1 on b: exit code 9; no node has gone",
			round: { charged: 2, outcome: { result: "failed", exitCode: 1 } },
		});
	});

	it.each([
		[1, true],
		[0, false],
	])("of a node with %i restarts: the next round begins at once: %s", (maxRestarts, goesOn) => {
		const unpaid = { ...FAILED, charge: "node" as const };
		expect(
			settle({ unpaid, nodes: ALL, config: { maxRestarts } }),
		).toMatchObject({
			...{ goesOn, budgets: new Map([["b", spent(1)]]) },
			round: { charged: 0, outcome: null },
		});
	});
});

it("stays open until the next round can begin, though it is seen already that a peer has gone", () => {
	const failed = nodeRecord("b", {
		state: "stopping",
		claim: 2,
		failure: FAILED,
	});
	const leaves = nodeRecord("a", { state: "leaving", cause: "SIGTERM" });
	const stays = nodeRecord("c", { state: "running" });
	const plan = (round: Partial<RoundRecord>, ...nodes: NodeRecord[]) => {
		const view = runView(round, nodes, { seats: SEATS });
		const time = { now: 0, wallTime: 0 };
		return planRound(view, EMPTY_MEMORY, runSpec(), "plan-2", time).plan;
	};
	const begun = { synced: 1, planId: "plan-1", seats: 3 };
	const update = plan(begun, leaves, failed, stays);
	expect(update).toMatchObject({
		...{ kind: "update", budgets: new Map() },
		round: { deprecated: 1, incidents: 1, charged: 0, unpaid: FAILED },
	});
	const { round = {} } = { round: {}, ...update };
	expect(plan(round, leaves, failed, stays)).toBeUndefined();
	const lifted = plan(
		round,
		leaves,
		ready("b", { failure: FAILED }),
		ready("c"),
	);
	expect(lifted).toMatchObject({
		kind: "lift",
		round: {
			...{ incidents: 0, charged: 0, unpaid: undefined },
			cause: { kind: "scale-down", reason: "a left: SIGTERM", root: null },
		},
	});
});

describe("a hang without a suspect", () => {
	const unpaid: NodeFailure = {
		...{ ...FAILED, charge: "run" },
		failure: { ...FAILED.failure, isUnattributed: true },
	};
	const config = { maxNodeRestarts: 0 };

	it("is paid for by the run alone", () => {
		expect(settle({ unpaid, nodes: ALL, config })).toMatchObject({
			...{ goesOn: true, budgets: new Map() },
			round: { charged: 1 },
		});
		const known = { ...FAILED, charge: "run" } as const;
		expect(settle({ unpaid: known, nodes: ALL, config })).toMatchObject({
			...{ goesOn: false, round: { charged: 0 } },
		});
	});

	it("is explained by the loss of any node, also of the one that ended its rank", () => {
		const nodes = [ready("a"), ready("c")];
		expect(settle({ unpaid, nodes })?.round).toMatchObject({ charged: 0 });
		expect(settle({ nodes })?.round).toMatchObject({ charged: 1 });
	});
});

describe("a wish for another round", () => {
	const unpaid: NodeFailure = { ...FAILED, isWish: true };

	it.each<[string, readonly NodeRecord[], string]>([
		[
			"peer was cut off",
			[ready("a", { fencedIn: 1 }), ready("b"), ready("c")],
			"a was cut off from the store",
		],
		// Seed 2006: who has gone may not have been seen to leave.
		["node has gone itself", [ready("a"), ready("c")], "b left: lease expired"],
	])("is free where its %s", (_, nodes, reason) => {
		expect(settle({ unpaid, nodes })).toMatchObject({
			...{ goesOn: true, reason: `${reason}, nothing failed` },
		});
	});
});

it("is explained by who was seen to leave, though its record is gone", () => {
	const open: Partial<RoundRecord> = {
		...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 3 },
		...{ incidents: 1, charged: 0, unpaid: FAILED },
	};
	const plan = (nodes: readonly NodeRecord[], memory: PlannerMemory) =>
		planRound(
			runView(open, nodes, { seats: SEATS }),
			memory,
			runSpec(),
			"plan-2",
			{ now: 0, wallTime: 0 },
		);
	const leaves = ready("b", {
		...{ state: "leaving", cause: "SIGTERM", isAsked: true },
	});
	const stops = nodeRecord("c", { state: "running", claim: 1 });
	const { memory } = plan([ready("a"), leaves, stops], EMPTY_MEMORY);
	const { plan: next } = plan([ready("a"), ready("c")], memory);
	expect(next).toMatchObject({
		kind: "lift",
		round: { incidents: 0, charged: 0, cause: { reason: "b left: SIGTERM" } },
	});
});
