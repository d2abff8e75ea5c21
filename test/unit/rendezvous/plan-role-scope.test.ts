import { describe, expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type {
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RunSpec } from "../../../src/rendezvous/records/run-spec.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const ROLES = { t: "trainer", u: "trainer", r: "reader" } as const;
type NodeId = keyof typeof ROLES;

/** Two trainers and a reader that run round 1. */
const RUNNING: Partial<RoundRecord> = {
	...{ synced: 1, deprecated: 0, planId: "plan-1", seats: 3 },
	terms: {
		trainer: { restartsAlone: true },
		reader: { restartsAlone: true },
	},
};
/** A failure of the trainers is one of the run. */
const MIXED = { ...RUNNING, terms: { reader: { restartsAlone: true } } };
const READER: RoundRecord["cause"] = {
	...{ kind: "failure", changeEvent: "SCALE_DOWN", reason: "role reader: …" },
	...{ root: null, roles: ["reader"] },
};
const OPEN = { ...RUNNING, deprecated: 1, cause: READER };
const SEATS = Object.fromEntries(
	Object.entries(ROLES).map(([nodeId, role], groupRank) => [
		nodeId,
		seatRecord(nodeId, { role, groupRank, firstRank: 2 * groupRank }),
	]),
);
const node = (nodeId: NodeId, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { role: ROLES[nodeId], state: "running", ...change });
const runsOn = (nodeId: NodeId) =>
	node(nodeId, { state: "ready", claim: 2, runsOn: true });
const ready = (nodeId: NodeId) => node(nodeId, { state: "ready", claim: 2 });
const failed = (nodeId: NodeId) => {
	const role = ROLES[nodeId];
	const failure = nodeFailure(nodeId, {
		failure: failureRecord(nodeId, { role, rank: 4 }),
	});
	return node(nodeId, { state: "stopping", claim: 2, failure });
};

function view(
	round: Partial<RoundRecord>,
	nodes: readonly NodeRecord[],
	finished: readonly string[] = [],
): RunView {
	return runView(round, nodes, { seats: SEATS, finished });
}

function plan(of: RunView, change: Partial<RunSpec> = {}) {
	const config = runSpec({
		...{ minNodes: 1, maxNodes: 4, ...change },
	});
	const time = { now: 0, wallTime: 0 };
	return planRound(of, EMPTY_MEMORY, config, "plan-2", time);
}

function roundOf(result: ReturnType<typeof plan>): RoundRecord {
	const { plan: made, reason } = result;
	return made && "round" in made ? made.round : expect.unreachable(reason);
}

describe("the roles that restart", () => {
	it.each<[string, RunView, readonly string[], string]>([
		[
			"a failure's",
			view(RUNNING, [node("t"), node("u"), failed("r")]),
			["reader"],
			"role reader: rank 4 on r: exit code 1",
		],
		[
			"a lost node's",
			view(RUNNING, [node("t"), node("u")]),
			["reader"],
			"role reader: r left: lease expired",
		],
		[
			"those of all lost nodes",
			view(RUNNING, [node("t")]),
			["trainer", "reader"],
			"role trainer, reader: u left: lease expired; r left: lease expired",
		],
		[
			"also that of a failure while another role restarts",
			view(OPEN, [failed("t"), runsOn("u"), ready("r")]),
			["reader", "trainer"],
			"role trainer: rank 4 on t: exit code 1",
		],
		[
			"also that of a failure of the same incident",
			view({ ...OPEN, incidents: 1, unpaid: nodeFailure("r") }, [
				...[failed("t"), runsOn("u"), ready("r")],
			]),
			["reader", "trainer"],
			"role reader: …; role trainer: rank 4 on t: exit code 1",
		],
		[
			"also that of a node lost meanwhile",
			view(OPEN, [runsOn("u"), ready("r")]),
			["reader", "trainer"],
			"role reader: …; role trainer: t left: lease expired",
		],
		[
			"also that of a node whose workers do not run on",
			view(OPEN, [ready("t"), runsOn("u"), ready("r")]),
			["reader", "trainer"],
			"role reader: …; role trainer: t does not run on",
		],
	])("are %s", (_, of, roles, reason) => {
		const round = roundOf(plan(of));
		expect(round.cause).toMatchObject({ roles, reason });
		expect(round.deprecated).toBe(1);
	});

	it("are named in the reason that the others' workers hear", () => {
		const of = view(RUNNING, [node("t"), node("u"), failed("r")]);
		expect(roundOf(plan(of)).cause.reason).toBe(
			"role reader: rank 4 on r: exit code 1",
		);
	});
});

describe("D3 a scope that only the readers have asked for", () => {
	const mixed = (...nodes: NodeRecord[]) => roundOf(plan(view(MIXED, nodes)));
	const open = { ...MIXED, deprecated: 1, cause: READER };

	it("has them restart alone, and the whole run for a trainer", () => {
		const ofReader = mixed(node("t"), node("u"), failed("r"));
		expect(ofReader.cause.roles).toEqual(["reader"]);
		const ofTrainer = mixed(failed("t"), node("u"), node("r"));
		expect(ofTrainer.cause).toMatchObject({
			...{ roles: undefined, reason: "rank 4 on t: exit code 1" },
		});
		const lost = mixed(node("t"), node("r"));
		expect(lost.cause.roles).toBeUndefined();
		expect(lost.cause.reason).toBe("u left: lease expired");
	});

	it.each<[string, readonly NodeRecord[]]>([
		["fails", [failed("t"), runsOn("u"), ready("r")]],
		["is lost", [runsOn("u"), ready("r")]],
	])("grows to the whole run where a trainer %s meanwhile", (_, nodes) => {
		const { cause } = roundOf(plan(view(open, nodes)));
		expect(cause.roles).toBeUndefined();
	});

	it("is what the first node of a role says when its round begins", () => {
		const terms = { restartsAlone: true, maxRestarts: 5 };
		const nodes = [ready("t"), ready("u"), ready("r")];
		const asking = nodes.map((record) =>
			record.role === "reader" ? { ...record, terms } : record,
		);
		const left = { ...OPEN, cause: { ...READER, roles: undefined } };
		const round = roundOf(plan(view(left, asking)));
		expect(round.terms).toEqual({ reader: terms });
		const usual = roundOf(plan(view(left, nodes)));
		expect(usual.terms).toBeUndefined();
	});

	it("is a newcomer's own", () => {
		const comes = nodeRecord("e", {
			...{ role: "evaluator", state: "ready", claim: 2 },
			terms: { restartsAlone: true },
		});
		const of = view(MIXED, [node("t"), node("u"), node("r"), comes]);
		expect(roundOf(plan(of)).cause.roles).toEqual(["evaluator"]);
	});
});

describe("the next round", () => {
	it("begins when the role is ready and the others run on, with all ranks as they were", () => {
		const { plan: lift } = plan(
			view(OPEN, [runsOn("t"), runsOn("u"), ready("r")]),
		);
		if (lift?.kind !== "lift") return expect.unreachable();
		expect([...lift.seats.values()]).toMatchObject([
			{ firstRank: 0, firstRoleRank: 0 },
			{ firstRank: 2, firstRoleRank: 2 },
			{ firstRank: 4, firstRoleRank: 0 },
		]);
	});

	it("has the role restart as well, once the wait for such a node is over", () => {
		const of = view(OPEN, [runsOn("t"), node("u"), ready("r")]);
		const { memory } = plan(of);
		const config = runSpec({ minNodes: 1, maxNodes: 4 });
		const time = { now: 36_000, wallTime: 0 };
		const late = planRound(of, memory, config, "plan-2", time);
		expect(roundOf(late).cause.roles).toEqual(["reader", "trainer"]);
		expect(late.memory.settle).toBeNull();
	});

	it("leaves out a node of another role that has finished", () => {
		const done = node("t", { state: "finished" });
		const { plan: lift } = plan(
			view(OPEN, [done, runsOn("u"), ready("r")], ["t"]),
		);
		if (lift?.kind !== "lift") return expect.unreachable();
		expect([...lift.seats.keys()]).toEqual(["u", "r"]);
	});
});

describe("driver roles", () => {
	const done = (nodeId: NodeId) => node(nodeId, { state: "finished" });
	it.each<[string, RunView, string, boolean]>([
		[
			"have all finished",
			view(RUNNING, [done("t"), done("u"), node("r")], ["t", "u"]),
			"trainer",
			true,
		],
		[
			"have finished while another role restarts",
			view(OPEN, [done("t"), done("u"), failed("r")], ["t", "u"]),
			"trainer",
			true,
		],
		[
			"have a node that works",
			view(RUNNING, [done("t"), node("u"), node("r")], ["t"]),
			"trainer",
			false,
		],
		[
			"are two, and one works",
			view(RUNNING, [done("t"), done("u"), node("r")], ["t", "u"]),
			"reader,trainer",
			false,
		],
		[
			"have not come yet",
			view(RUNNING, [done("t"), done("u"), node("r")], ["t", "u"]),
			"evaluator",
			false,
		],
	])("end the run if they %s", (_, of, driverRoles, ends) => {
		const { plan: made } = plan(of, { driverRoles });
		const outcome = made && "round" in made ? made.round.outcome : null;
		expect(outcome?.result ?? "goes on").toBe(ends ? "succeeded" : "goes on");
	});
});
