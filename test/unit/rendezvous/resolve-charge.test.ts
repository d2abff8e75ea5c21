import { describe, expect, it } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import { resolveCharge } from "../../../src/rendezvous/planner/resolve-charge.js";
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
	/** It is known already that nothing else was behind it. */
	readonly isOwn?: boolean;
}

function settle({
	unpaid = FAILED,
	nodes,
	finished = [],
	config,
	charged = 0,
	isOwn = false,
}: Situation) {
	const round: Partial<RoundRecord> = {
		...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 3 },
		...{ incidents: 1, charged, unpaid },
	};
	const view = runView(round, nodes, { seats: SEATS, finished });
	const chosen = [...view.nodes.values()].filter(
		({ record }) => record.state === "ready",
	);
	const memory = { ...EMPTY_MEMORY, ownFailureOf: isOwn ? 1 : null };
	return resolveCharge(view, chosen, memory, {
		...runSpec(),
		maxRestarts: 1,
		...config,
	});
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
			"that is another process",
			{ nodes: [ready("a", { incarnation: "a-2" }), ready("b"), ready("c")] },
			"a was restarted",
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

	it.each<[string, Situation]>([
		["its own node has gone", { nodes: [ready("a"), ready("c")] }],
		[
			"its own node leaves because of it",
			{ nodes: [ready("a"), ready("b", { state: "leaving" }), ready("c")] },
		],
		[
			"a peer goes after all had left the round",
			{ nodes: [ready("b"), ready("c")], isOwn: true },
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
		[
			"another was cut off in an earlier round",
			{ nodes: [ready("a", { fencedIn: 0 }), ready("b"), ready("c")] },
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

it("is settled at once where it is seen already that a peer has gone", () => {
	const failed = nodeRecord("b", {
		state: "stopping",
		claim: 2,
		failure: FAILED,
	});
	const leaves = nodeRecord("a", { state: "leaving", cause: "SIGTERM" });
	const view = runView(
		{ synced: 1, planId: "plan-1", seats: 3 },
		[leaves, failed, nodeRecord("c", { state: "running" })],
		{ seats: SEATS },
	);
	const time = { now: 0, wallTime: 0 };
	const { plan, reason } = planRound(
		view,
		EMPTY_MEMORY,
		runSpec(),
		"plan-2",
		time,
	);
	expect(reason).toBe(
		"a left: SIGTERM, which explains rank 1 on b: exit code 9",
	);
	expect(plan).toMatchObject({
		...{ kind: "update", budgets: new Map() },
		round: {
			...{ deprecated: 1, incidents: 0, charged: 0 },
			cause: { kind: "scale-down", reason: "a left: SIGTERM", root: null },
			accounted: [FAILED.failure.id],
		},
	});
});

describe("a budget that is spent, while others still end their workers", () => {
	const stopping = (nodeId: string, change: Partial<NodeRecord> = {}) =>
		nodeRecord(nodeId, { state: "stopping", claim: 2, ...change });
	const planWith = (
		a: NodeRecord | undefined,
		charge: NodeFailure["charge"] = "run",
	) => {
		const unpaid = { ...FAILED, charge };
		const nodes = [ready("b"), stopping("c")];
		const view = runView(
			{
				...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 3 },
				...{ incidents: 1, charged: 1, unpaid },
			},
			a ? [a, ...nodes] : nodes,
			{ seats: SEATS, budgets: { b: 1 } },
		);
		const config = { ...runSpec(), maxRestarts: 1 };
		const time = { now: 0, wallTime: 0 };
		return planRound(view, EMPTY_MEMORY, config, "plan-2", time).plan;
	};

	it("ends the run as soon as all have left the round", () => {
		expect(planWith(stopping("a"))).toMatchObject({
			round: { charged: 2, unpaid: undefined, outcome: { exitCode: 1 } },
		});
	});

	it("ends its node's part likewise", () => {
		expect(planWith(stopping("a"), "node")).toMatchObject({
			...{ kind: "update", budgets: new Map([["b", spent(2)]]) },
			round: { charged: 1, outcome: null },
		});
	});

	it.each([
		["has not spoken since", nodeRecord("a", { state: "running", claim: 1 })],
		["was cut off", stopping("a", { fencedIn: 1 })],
		["leaves", nodeRecord("a", { state: "leaving", claim: 2 })],
		["has gone", undefined],
	])("waits where one %s", (_, a) => {
		expect(planWith(a)).toBeUndefined();
	});
});

describe("a wish for another round", () => {
	const unpaid: NodeFailure = { ...FAILED, isWish: true };

	it.each<[string, NodeRecord, string]>([
		[
			"was cut off",
			ready("a", { fencedIn: 1 }),
			"a was cut off from the store",
		],
		[
			"is not ready",
			ready("a", { state: "stopping" }),
			"a did not come in time",
		],
	])("is free where a peer %s", (_, a, reason) => {
		expect(
			settle({ unpaid, nodes: [a, ready("b"), ready("c")] }),
		).toMatchObject({ goesOn: true, reason: `${reason}, nothing failed` });
	});

	it.each<[string, NodeRecord]>([
		["was cut off itself", ready("b", { fencedIn: 1 })],
		["is as it was", ready("b")],
	])("is paid for where only its own node %s", (_, b) => {
		expect(
			settle({ unpaid, nodes: [ready("a"), b, ready("c")] })?.round,
		).toMatchObject({ charged: 1 });
	});
});

it("is remembered to be its own fault as soon as all others have left the round, whoever goes then", () => {
	const stopping = (nodeId: string, change: Partial<NodeRecord> = {}) =>
		nodeRecord(nodeId, { state: "stopping", claim: 2, ...change });
	const plan = (nodes: readonly NodeRecord[], memory: PlannerMemory) =>
		planRound(
			runView(
				{
					...{ synced: 1, deprecated: 1, planId: "plan-1", seats: 3 },
					...{ incidents: 1, charged: 0, unpaid: FAILED },
				},
				nodes,
				{ seats: SEATS },
			),
			memory,
			{ ...runSpec(), maxRestarts: 1 },
			"plan-2",
			{ now: 0, wallTime: 0 },
		);
	const all = [stopping("a"), ready("b"), ready("c")];
	const before = plan(all, EMPTY_MEMORY);
	expect(before.plan).toBeUndefined();
	const leaves = nodeRecord("a", { state: "leaving", cause: "SIGTERM" });
	const { plan: next } = plan([leaves, ...all.slice(1)], before.memory);
	expect(next).toMatchObject({
		...{ kind: "lift", round: { synced: 2, incidents: 1, charged: 1 } },
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

it("settles nothing where nothing is open", () => {
	const view = runView({ synced: 1, deprecated: 1, planId: "plan-1" }, ALL);
	expect(
		resolveCharge(view, [...view.nodes.values()], EMPTY_MEMORY, runSpec()),
	).toBe(undefined);
});
