import { describe, expect, it } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
	type PlannerMemory,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type {
	NodeFailure,
	NodeRecord,
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

const CONFIG = runSpec();

const NOW = 5_000;
/** What the wall clock says when the steady one says 0. */
const WALL = 1_795_000_000_000;

function plan(
	view: RunView,
	options: {
		config?: Partial<PlannerConfig>;
		memory?: PlannerMemory;
		now?: number;
	} = {},
) {
	return planRound(
		view,
		options.memory ?? EMPTY_MEMORY,
		{ ...CONFIG, ...options.config },
		"plan-2",
		{ now: options.now ?? NOW, wallTime: WALL + (options.now ?? NOW) },
	);
}

/** Two nodes that run round 1 together. */
const RUNNING = { synced: 1, deprecated: 0, planId: "plan-1", seats: 2 };
const OPEN = { ...RUNNING, deprecated: 1 };
const SEATS = {
	a: seatRecord("a", { groupRank: 0, firstRank: 0 }),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const run = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { state: "running", ...change });
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });

describe("the first round", () => {
	it("ends the run with exit 3 when the join time-out is over", () => {
		const view = runView({}, [nodeRecord("a")]);
		const { memory } = plan(view);
		const result = plan(view, { memory, now: NOW + 600_000 });
		expect(result.plan).toMatchObject({
			kind: "update",
			round: {
				outcome: {
					result: "failed",
					exitCode: 3,
					reason:
						"rendezvous timed out after 600 s: 1 of at least 2 nodes are ready",
				},
			},
		});
	});

	it("waits for the last call from the moment that MIN are ready", () => {
		const view = runView({}, [nodeRecord("a"), nodeRecord("b")]);
		const first = plan(view);
		expect(first).toMatchObject({ plan: undefined, until: NOW + 30_000 });
		const later = plan(view, { memory: first.memory, now: NOW + 30_000 });
		expect(later.plan?.kind).toBe("lift");
	});

	it("is lifted at once when MAX are ready, ranks by order of arrival", () => {
		const nodes = [
			nodeRecord("c", { localWorldSize: 1, role: "reader" }),
			nodeRecord("a", { localWorldSize: 2 }),
			nodeRecord("b", { localWorldSize: 4 }),
		];
		const result = plan(runView({}, nodes));
		if (result.plan?.kind !== "lift") throw new Error("no lift");
		expect([...result.plan.seats]).toMatchObject([
			["c", { groupRank: 0, firstRank: 0, firstRoleRank: 0, round: 1 }],
			["a", { groupRank: 1, firstRank: 1, firstRoleRank: 0 }],
			["b", { groupRank: 2, firstRank: 3, firstRoleRank: 2 }],
		]);
		expect(result.plan.round).toMatchObject({
			synced: 1,
			deprecated: 0,
			planId: "plan-2",
			seats: 3,
			world: {
				worldSize: 7,
				groupWorldSize: 3,
				roleWorldSizes: { default: 6, reader: 1 },
				masterAddr: "c.example",
				masterPort: 4000,
			},
		});
	});

	it("counts the ranks of a role that is called as what every object has", () => {
		const role = "constructor";
		const nodes = ["a", "b", "c"].map((nodeId) => nodeRecord(nodeId, { role }));
		const result = plan(runView({}, nodes));
		if (result.plan?.kind !== "lift") throw new Error("no lift");
		expect([...result.plan.seats]).toMatchObject([
			["a", { firstRoleRank: 0 }],
			["b", { firstRoleRank: 2 }],
			["c", { firstRoleRank: 4 }],
		]);
		expect(result.plan.round.world?.roleWorldSizes).toEqual({ [role]: 6 });
	});
});

describe("a round that was left, with fewer than MIN", () => {
	const { a, b } = SEATS;
	const spent = { version: 1, incarnation: "b-1", refused: "spent" } as const;

	it.each([
		["vanished", { a, b }, []],
		["is leaving", { a, b }, [nodeRecord("b", { state: "leaving" })]],
		["was refused, and left with 75", { a, b: spent }, []],
	])("names the peer that %s, in the outcome too", (_, seats, others) => {
		const view = runView(OPEN, [ready("a"), ...others], { seats });
		const settled = plan(view, { now: NOW });
		const first = plan(view, { memory: settled.memory, now: NOW + 60_000 });
		const words = "1 of at least 2 nodes are ready; missing: b";
		expect(first.reason).toBe(words);
		const last = plan(view, { memory: first.memory, now: NOW + 660_000 });
		expect(last.plan).toMatchObject({
			round: { outcome: { reason: expect.stringContaining(words) } },
		});
	});
});

describe("a running round", () => {
	const leaves = (nodes: readonly NodeRecord[], finished: string[] = []) =>
		plan(runView(RUNNING, nodes, { seats: SEATS, finished }));

	it.each([
		["vanished", [run("a")], "b left: lease expired"],
		[
			"another process under its name",
			[run("a"), run("b", { incarnation: "b-2" })],
			"b was restarted",
		],
		[
			"leaving",
			[run("a"), run("b", { state: "leaving", cause: "SIGTERM" })],
			"b left: SIGTERM",
		],
		[
			"asking for a new round",
			[run("a"), run("b", { state: "stopping", claim: 2 })],
			"b asks for a new round",
		],
	])("is left when a member is %s, and nothing is charged", (_, nodes, reason) => {
		const result = leaves(nodes);
		expect(result.plan).toMatchObject({
			kind: "update",
			round: {
				synced: 1,
				deprecated: 1,
				incidents: 0,
				charged: 0,
				cause: { kind: "scale-down", changeEvent: "SCALE_DOWN", reason },
			},
		});
	});

	it("is left at a failure; who pays is decided when the next one begins", () => {
		const nodes = [
			run("a", { state: "stopping", claim: 2, failure: nodeFailure("a") }),
			run("b", {
				state: "stopping",
				claim: 2,
				failure: nodeFailure("b", {
					failure: failureRecord("b", { rank: 2 }),
				}),
			}),
		];
		const result = leaves(nodes);
		expect(result.plan).toMatchObject({
			round: {
				deprecated: 1,
				incidents: 1,
				charged: 0,
				unpaid: { charge: "run" },
				accounted: ["a/a-1/1", "b/b-1/1"],
				outcome: null,
				cause: { kind: "failure", reason: "rank 0 on a: exit code 1" },
			},
		});
	});

	it("names as root the failure that the store saw first, whatever the clocks say", () => {
		const view = runView(
			RUNNING,
			[
				run("a", {
					failure: nodeFailure("a", {
						failure: failureRecord("a", { timestamp: 1 }),
					}),
				}),
				run("b", {
					failure: nodeFailure("b", {
						failure: failureRecord("b", { timestamp: 9, rank: 3 }),
					}),
				}),
			],
			{ seats: SEATS },
		);
		const [a, b] = [view.nodes.get("a"), view.nodes.get("b")];
		if (!a || !b) throw new Error("unreachable");
		const reversed = new Map([
			["a", { ...a, modRevision: 20 }],
			["b", { ...b, modRevision: 10 }],
		]);
		expect(plan({ ...view, nodes: reversed }).reason).toBe(
			"rank 3 on b: exit code 1",
		);
	});

	it("ends the run when the budget is spent", () => {
		const failed = { failure: nodeFailure("a") };
		const left = plan(
			runView(
				{ ...RUNNING, charged: 1, incidents: 1 },
				[run("a", failed), run("b")],
				{ seats: SEATS },
			),
		).plan;
		if (left?.kind !== "update") throw new Error("no update");
		const view = runView(left.round, [ready("a", failed), ready("b")], {
			seats: SEATS,
		});
		expect(plan(view).plan).toMatchObject({
			round: {
				deprecated: 1,
				charged: 2,
				outcome: {
					result: "failed",
					exitCode: 1,
					reason: "rank 0 on a: exit code 1; the budget of 1 restart is spent",
					root: { nodeId: "a" },
				},
			},
		});
	});

	it("ends the run at a fatal failure, whatever the budget", () => {
		const view = runView(
			RUNNING,
			[
				run("a", {
					failure: nodeFailure("a", { failsRun: 127, charge: "nothing" }),
				}),
				run("b"),
			],
			{ seats: SEATS },
		);
		expect(plan(view).plan).toMatchObject({
			round: { charged: 0, outcome: { result: "failed", exitCode: 127 } },
		});
	});

	it("charges the node where the policy says so, and refuses it once its budget is spent", () => {
		const unpaid = nodeFailure("a", { charge: "node" });
		const nodes = [ready("a", { failure: unpaid }), ready("b")];
		const accounted = [unpaid.failure.id];
		const open = { ...OPEN, incidents: 1, accounted, unpaid };
		const result = plan(
			runView(open, nodes, { seats: SEATS, budgets: { a: 1 } }),
		);
		if (result.plan?.kind !== "update") throw new Error("no update");
		expect(result.plan.round.charged).toBe(0);
		expect(result.plan.budgets.get("a")).toMatchObject({ charged: 2 });
		const after = plan(
			runView(result.plan.round, nodes, { seats: SEATS, budgets: { a: 2 } }),
		);
		expect(after.plan).toMatchObject({ kind: "refuse" });
		expect(after.reason).toBe("refused: a");
	});

	it("ends the run with the budget of its only node, where no other one can come", () => {
		const left = { ...RUNNING, deprecated: RUNNING.synced };
		const view = runView(left, [run("a")], { seats: SEATS, budgets: { a: 2 } });
		expect(plan(view, { config: { isAlone: true } }).plan).toMatchObject({
			kind: "update",
			round: {
				outcome: {
					result: "failed",
					exitCode: 1,
					reason: expect.stringContaining("the budget of 1 restart is spent"),
				},
			},
		});
	});

	it("gathers newcomers for the last call while it runs on, then is left once", () => {
		const view = runView(RUNNING, [run("a"), run("b"), ready("c")], {
			seats: SEATS,
		});
		const config = { maxNodes: 4 };
		const first = plan(view, { config });
		expect(first).toMatchObject({
			plan: undefined,
			until: NOW + 30_000,
			reason: "last call: c would join",
		});
		const later = plan(view, {
			config,
			memory: first.memory,
			now: NOW + 30_000,
		});
		expect(later.plan).toMatchObject({
			round: {
				deprecated: 1,
				cause: {
					kind: "scale-up",
					changeEvent: "SCALE_UP",
					reason: "joining: c",
				},
			},
		});
	});

	it.each([
		["is full", { maxNodes: 2 }, []],
		["has a member that finished", { maxNodes: 3 }, ["a"]],
	])("is not left for newcomers when it %s", (_, config, finished) => {
		const view = runView(RUNNING, [run("a"), run("b"), ready("c")], {
			seats: SEATS,
			finished,
		});
		expect(plan(view, { config }).plan).toBeUndefined();
	});

	it.each([
		["lets in who had finished an earlier round", false, { deprecated: 1 }],
		["lets nobody in where who has finished stays so", true, undefined],
	])("%s", (_, finishedStay, round) => {
		const nodes = [run("a"), run("b"), ready("c")];
		const view = runView(RUNNING, nodes, { seats: SEATS, done: ["c"] });
		const { plan: next } = plan(view, { config: { finishedStay } });
		expect(next && "round" in next ? next.round : undefined).toEqual(
			round && expect.objectContaining(round),
		);
	});

	it("sweeps seats of an earlier plan", () => {
		const view = runView(RUNNING, [run("a"), run("b")], {
			seats: { ...SEATS, z: seatRecord("z", { planId: "plan-0" }) },
		});
		expect(plan(view).plan).toEqual({ kind: "sweep", nodeIds: ["z"] });
	});
});

describe("a round that is being left", () => {
	it("waits for members that hold their lease, however many spares are ready", () => {
		const nodes = [
			ready("a"),
			run("b", { state: "stopping", claim: 2 }),
			ready("c"),
			ready("d"),
		];
		expect(plan(runView(OPEN, nodes, { seats: SEATS }))).toMatchObject({
			plan: undefined,
			until: NOW + 35_000,
			reason: "waiting for b",
		});
	});

	it("goes on without the late one after the settle time", () => {
		const nodes = [ready("a"), run("b", { state: "stopping" }), ready("c")];
		const view = runView(OPEN, nodes, { seats: SEATS });
		const { memory } = plan(view);
		const result = plan(view, { memory, now: NOW + 35_000 });
		if (result.plan?.kind !== "lift") throw new Error("no lift");
		expect([...result.plan.seats.keys()]).toEqual(["a", "c"]);
	});

	it("waits so much longer for one that waits for its paused workers, and for all others as long from then on", () => {
		const late = run("b", { state: "stopping", awaitsWorkersMs: 60_000 });
		const stuck = run("a", { state: "stopping" });
		const both = runView(OPEN, [stuck, late, ready("c"), ready("d")], {
			seats: SEATS,
		});
		const first = plan(both);
		expect(first.until).toBe(NOW + 95_000);
		const { memory } = first;
		const at = (view: typeof both, now: number) =>
			plan(view, { memory, now }).plan?.kind;
		expect(at(both, NOW + 94_999)).toBeUndefined();
		expect(at(both, NOW + 95_000)).toBe("lift");
		const back = runView(OPEN, [stuck, ready("b"), ready("c"), ready("d")], {
			seats: SEATS,
		});
		expect(at(back, NOW + 94_999)).toBeUndefined();
		expect(at(back, NOW + 95_000)).toBe("lift");
		// However often it is planned, and whoever says so too.
		const again = plan(both, { memory, now: NOW + 20_000 });
		expect(again.until).toBe(NOW + 95_000);
	});

	it("waits one settle time for members of whom none holds a lease", () => {
		const view = runView(OPEN, [ready("c"), ready("d")], { seats: SEATS });
		const first = plan(view);
		expect(first).toMatchObject({
			plan: undefined,
			reason: "waiting for a, b",
		});
		const later = plan(view, { memory: first.memory, now: NOW + 35_000 });
		expect(later.plan?.kind).toBe("lift");
	});

	it("waits for all after an outage, also when the first of them is back", () => {
		const back = runView(RUNNING, [ready("a")], { seats: SEATS });
		const returned = back.nodes.get("a");
		if (returned === undefined) throw new Error("no node");
		const node = { ...returned, createRevision: back.roundRevision + 1 };
		const view = { ...back, nodes: new Map([["a", node]]) };
		const left = plan(view, { config: { minNodes: 1 } });
		expect(left.plan).toMatchObject({ round: { deprecated: 1 } });
		const open = { ...view, round: roundRecord(OPEN) };
		const { memory } = left;
		const waiting = plan(open, { config: { minNodes: 1 }, memory });
		expect(waiting).toMatchObject({ plan: undefined, reason: "waiting for b" });
		const later = plan(open, {
			config: { minNodes: 1 },
			memory: waiting.memory,
			now: NOW + 35_000,
		});
		expect(later.plan?.kind).toBe("lift");
	});

	it("counts a second failure as part of the same incident", () => {
		const root = failureRecord("a");
		const view = runView(
			{
				...OPEN,
				incidents: 1,
				charged: 1,
				accounted: [root.id],
				cause: {
					kind: "failure",
					changeEvent: "SCALE_DOWN",
					reason: "rank 0 on a: exit code 1",
					root,
				},
			},
			[
				ready("a", { failure: nodeFailure("a") }),
				ready("b", { failure: nodeFailure("b", { unaware: true }) }),
			],
			{ seats: SEATS },
		);
		expect(plan(view).plan).toMatchObject({
			round: { incidents: 1, charged: 1, accounted: [root.id, "b/b-1/1"] },
		});
	});

	describe.each([
		["scale-up", "joining: c"],
		["scale-down", "c left: SIGTERM"],
	] as const)("when only a %s is open", (kind, reason) => {
		const cause = { kind, changeEvent: null, reason, root: null };
		const failing = (change: Partial<NodeFailure>) =>
			plan(
				runView(
					{ ...OPEN, cause },
					[ready("a", { failure: nodeFailure("a", change) }), ready("b")],
					{ seats: SEATS },
				),
			);

		it("opens an incident for a failure", () => {
			expect(failing({}).plan).toMatchObject({
				round: { incidents: 1, charged: 0, cause: { kind: "failure" } },
			});
		});

		it("has a failure cost nothing of which the node said that it had not heard of it", () => {
			const { plan, reason: said } = failing({ unaware: true });
			expect(said).toBe(
				`rank 0 on a: exit code 1, as its round was left: ${reason}`,
			);
			expect(plan).toMatchObject({
				budgets: new Map(),
				round: { incidents: 0, charged: 0, cause, accounted: ["a/a-1/1"] },
			});
		});
	});
});

it("does nothing once there is an outcome", () => {
	const outcome = {
		result: "failed",
		exitCode: 1,
		reason: "spent",
		root: null,
	} as const;
	const view = runView({ ...RUNNING, outcome }, [
		run("a", { failure: nodeFailure("a") }),
	]);
	expect(plan(view)).toMatchObject({
		plan: undefined,
		until: undefined,
		reason: "the run has ended: spent",
	});
});

describe("a member whose process was replaced", () => {
	const coming = nodeRecord("b", {
		incarnation: "b-2",
		state: "joining",
		claim: 0,
	});
	const arrived = ready("b", { incarnation: "b-2" });
	const config = { minNodes: 1 };

	it("is waited for while the new process is on its way, so that it takes one round in all", () => {
		const rest = { seats: SEATS };
		const first = plan(runView(OPEN, [ready("a"), coming], rest), { config });
		expect(first).toMatchObject({
			plan: undefined,
			until: NOW + 35_000,
			reason: "waiting for b",
		});
		const then = plan(runView(OPEN, [ready("a"), arrived], rest), {
			config,
			memory: first.memory,
		});
		if (then.plan?.kind !== "lift") throw new Error("no lift");
		expect([...then.plan.seats.keys()]).toEqual(["a", "b"]);
	});
});

describe("a large plan whose coordinator died between two of its writes", () => {
	/** Seats that another coordinator wrote for a plan that it never completed. */
	const unfinished = (nodeId: string, groupRank: number, before?: number) =>
		seatRecord(nodeId, {
			planId: "plan-x",
			round: 2,
			groupRank,
			previous:
				before === undefined ? null : { planId: "plan-1", groupRank: before },
		});

	it("leaves the members their places", () => {
		const nodes = [ready("c"), ready("b"), ready("a")];
		const seats = { a: unfinished("a", 0, 0), b: SEATS.b };
		const result = plan(runView(OPEN, nodes, { seats }));
		if (result.plan?.kind !== "lift") throw new Error("no lift");
		expect([...result.plan.seats.keys()]).toEqual(["a", "b", "c"]);
		expect([...result.plan.seats.values()]).toMatchObject([
			{ previous: { planId: "plan-1", groupRank: 0 } },
			{ previous: { planId: "plan-1", groupRank: 1 } },
			{ previous: null },
		]);
	});
});

describe("what is awaited", () => {
	it.each<[string, RunView, object]>([
		[
			"MIN",
			runView({}, [nodeRecord("a")]),
			{
				round: 1,
				kind: "minimum",
				needed: 1,
				missing: { count: 0, names: [] },
			},
		],
		[
			"the last call",
			runView({}, [nodeRecord("a"), nodeRecord("b")]),
			{ round: 1, kind: "last-call", here: { count: 2, names: ["a", "b"] } },
		],
		[
			"a late member",
			runView(OPEN, [ready("a"), run("b"), ready("c")], { seats: SEATS }),
			{
				round: 2,
				kind: "members",
				here: { count: 2, names: ["a", "c"] },
				missing: { count: 1, names: ["b"] },
			},
		],
		[
			"further newcomers",
			runView(RUNNING, [run("a"), run("b"), ready("c")], { seats: SEATS }),
			{ round: 2, kind: "newcomers", here: { count: 1, names: ["c"] } },
		],
		[
			"the end of a round that nobody may join any more",
			runView(RUNNING, [run("a"), run("b"), ready("c")], {
				seats: SEATS,
				finished: ["a"],
			}),
			{ round: 2, kind: "end", here: { count: 1, names: ["c"] } },
		],
	])("is told for %s", (_, view, awaited) => {
		expect(plan(view, { config: { maxNodes: 4 } }).awaited).toMatchObject({
			...awaited,
			minNodes: 2,
			maxNodes: 4,
		});
	});

	it("is nothing where all who are left are leaving", () => {
		const leaving = (id: string) => run(id, { state: "leaving" });
		const nodes = [leaving("a"), leaving("b")];
		const result = plan(runView(OPEN, nodes, { seats: SEATS }));
		expect(result.awaited).toBeUndefined();
		expect(result.until).toBeGreaterThan(0);
		const other = runView(OPEN, [leaving("a"), ready("b")], { seats: SEATS });
		expect(plan(other).awaited).toMatchObject({ kind: "minimum", needed: 1 });
	});
});
