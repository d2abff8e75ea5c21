import { describe, expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import { planWrites } from "../../../src/rendezvous/planner/plan-writes.js";
import { toCareFor } from "../../../src/rendezvous/planner/replace-nodes.js";
import type { ReplacedRecord } from "../../../src/rendezvous/records/departure-records.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { NodeRecord } from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const CONFIG = {
	...runSpec(),
	...{ minNodes: 1, maxNodes: 2, maxRestarts: 1, isAlone: false },
};
const SEATS = {
	a: seatRecord("a"),
	b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
};
const ROUND = { synced: 1, deprecated: 1, planId: "plan-1", seats: 2 };
const replaced = (
	nodeId: string,
	change: Partial<ReplacedRecord> = {},
): ReplacedRecord => ({
	...{ version: 1, nodeId, incarnation: `${nodeId}-1`, hostId: "host" },
	...{ address: `${nodeId}.example`, role: "default", reason: "rule 1", at: 5 },
	...change,
});
const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { claim: 2, ...change });
const viewOf = (
	nodes: readonly NodeRecord[],
	records: readonly ReplacedRecord[],
	rest: Parameters<typeof runView>[2] = {},
	round: Parameters<typeof runView>[0] = {},
): RunView => ({
	...runView({ ...ROUND, ...round }, nodes, { seats: SEATS, ...rest }),
	replaced: new Map(records.map((record) => [record.nodeId, record])),
});
const plan = (view: RunView) =>
	planRound(view, EMPTY_MEMORY, CONFIG, "plan-2", { now: 1e6, wallTime: 9 });

describe("a replaced node", () => {
	it("D8 is refused under its name, whatever process it has", () => {
		const again = ready("b", { incarnation: "b-2", state: "joining" });
		expect(plan(viewOf([ready("a"), again], [replaced("b")])).plan).toEqual({
			kind: "refuse",
			replaced: new Map(),
			seats: new Map([
				[
					"b",
					{
						...{ version: 1, incarnation: "b-2" },
						refused: expect.stringMatching(/rule 1; elastic-run readmit b /),
					},
				],
			]),
		});
	});

	it("D1 whose budget is spent is one from then on, in the same plan", () => {
		const view = viewOf([ready("a"), ready("b")], [], { budgets: { b: 2 } });
		const { plan: refuse } = plan(view);
		expect(refuse).toMatchObject({ kind: "refuse" });
		if (refuse?.kind !== "refuse") throw new Error("it is not refused");
		expect([...refuse.replaced.values()]).toMatchObject([
			{ nodeId: "b", at: 9, reason: expect.stringMatching(/^b has used up/) },
		]);
		const keys = new RunKeys("r");
		expect(
			planWrites(refuse, keys, view).others.map((write) =>
				"put" in write ? write.put : write.delete,
			),
		).toEqual([keys.replacedNode("b"), keys.seat("b")]);
	});

	it("D1 D8 has its count reset when its replacement comes, and not before", () => {
		const budgets = { b: 2 };
		const alone = viewOf([ready("a")], [replaced("b")], { budgets });
		expect(plan(alone).plan).toMatchObject({ replaced: new Map() });
		const view = viewOf([ready("a"), ready("c")], [replaced("b")], { budgets });
		const { plan: lift } = plan(view);
		if (lift?.kind !== "lift") throw new Error("no lift");
		expect([...lift.replaced.values()]).toEqual([
			replaced("b", { replacement: "c" }),
		]);
		const keys = new RunKeys("r");
		expect(planWrites(lift, keys, view).last).toContainEqual({
			delete: keys.budget("b"),
		});
	});

	it("D9 charges nobody for what fails because it goes, though that is seen first", () => {
		const unpaid = nodeFailure("a", { failure: failureRecord("a") });
		const leaves = ready("b", { state: "leaving", cause: "rule 1" });
		const view = viewOf(
			[ready("a"), leaves],
			[replaced("b")],
			{},
			{ unpaid, incidents: 1 },
		);
		expect(plan(view).plan).toMatchObject({
			kind: "lift",
			round: { charged: 0, incidents: 0, cause: { reason: "b left: rule 1" } },
		});
	});
});

describe("D8 the coordinator", () => {
	const coordinator = { nodeId: "a" };
	it.each<[string, readonly NodeRecord[], readonly ReplacedRecord[], object]>([
		["cares for it", [ready("a")], [replaced("b")], {}],
		[
			"cares for the next one",
			[ready("a")],
			[replaced("c", { caredForBy: "a" }), replaced("b")],
			{},
		],
	])("%s, and says so", (_, nodes, records) => {
		expect(toCareFor(viewOf(nodes, records), coordinator)).toEqual(
			replaced("b", { caredForBy: "a" }),
		);
	});

	const outcome = {
		...{ result: "failed", exitCode: 1, reason: "over", root: null },
	} as const;
	it.each<[string, readonly NodeRecord[], readonly ReplacedRecord[], object]>([
		["somebody did", [ready("a")], [replaced("b", { caredForBy: "c" })], {}],
		[
			"its place is taken",
			[ready("a")],
			[replaced("b", { replacement: "c" })],
			{},
		],
		["it goes itself", [ready("a", { state: "leaving" })], [replaced("b")], {}],
		["it is replaced itself", [ready("a")], [replaced("a"), replaced("b")], {}],
		["the run is over", [ready("a")], [replaced("b")], { outcome }],
	])("does not where %s", (_, nodes, records, round) => {
		const view = viewOf(nodes, records, {}, round);
		expect(toCareFor(view, coordinator)).toBeUndefined();
	});
});

describe("the order of nodes that are not members", () => {
	const first = { synced: 0, deprecated: 0, planId: null, seats: 0 };
	const members = (nodes: readonly NodeRecord[]) => {
		const view = runView(first, nodes);
		const memory = { ...EMPTY_MEMORY, lastCall: { round: 0, at: 0 } };
		const time = { now: 1, wallTime: 0 };
		const { plan: lift } = planRound(view, memory, CONFIG, "p", time);
		return lift?.kind === "lift" ? [...lift.seats.keys()] : [];
	};

	it("P3 puts those last whose machine will go", () => {
		const notice = { source: "aws", reason: "spot interruption" };
		const goes = nodeRecord("a", { claim: 1, nodeRank: 0, notice });
		const stays = (nodeId: string) =>
			nodeRecord(nodeId, { claim: 1, nodeRank: 0 });
		expect(members([goes, stays("b"), stays("c")])).toEqual(["b", "c"]);
		expect(members([goes, stays("b")])).toEqual(["b", "a"]);
	});
});
