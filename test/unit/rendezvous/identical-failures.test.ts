import { describe, expect, it } from "vitest";
import { resolveCharge } from "../../../src/rendezvous/planner/payment.js";
import type { PlannerConfig } from "../../../src/rendezvous/planner/plan.js";
import type { FailureRecord } from "../../../src/rendezvous/records/failure.js";
import type {
	NodeFailure,
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	roundRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const SAME = "exit code 1; ValueError; train.py:41 in load; bad batch #";

/** A round that failed, or was left otherwise. */
interface Failed {
	readonly on?: "a" | "b";
	/** How far both nodes came; undefined: they count no steps. */
	readonly step?: number | null;
	readonly failure?: Partial<FailureRecord>;
	readonly charge?: NodeFailure["charge"];
	/** Of the other node. */
	readonly peer?: Partial<NodeRecord>;
	readonly hasSpare?: boolean;
}

/** Plays one incident after another and says how each was decided. */
function play(
	incidents: readonly Failed[],
	config: Partial<PlannerConfig> = {},
): { verdicts: readonly string[]; round: RoundRecord } {
	const verdicts: string[] = [];
	let round: Partial<RoundRecord> = { planId: "plan-1", seats: 2 };
	for (const [index, incident] of incidents.entries()) {
		const synced = index + 1;
		const { on = "b", step, charge = "run", peer, hasSpare } = incident;
		const reached = step === undefined ? undefined : { round: synced, step };
		const failure = failureRecord(on, {
			...{ round: synced, rank: 3, fingerprint: SAME, said: "ValueError: x" },
			...incident.failure,
		});
		const unpaid = nodeFailure(on, { failure, charge });
		const { role } = failure;
		const others = peer?.reached && { round: synced, step: peer.reached.step };
		const nodes = ["a", "b"].map((nodeId) =>
			nodeRecord(nodeId, {
				...{ claim: synced + 1, reached, role },
				...(nodeId === on
					? { failure: unpaid }
					: { ...peer, ...(others && { reached: others }) }),
			}),
		);
		const scope = peer?.runsOn === true ? { roles: [role] } : {};
		const cause = { ...roundRecord().cause, ...scope };
		const left = { synced, deprecated: synced, incidents: synced };
		if (hasSpare) nodes.push(nodeRecord("c", { claim: synced + 1, role }));
		const view = runView({ ...round, ...left, cause, unpaid }, nodes, {
			seats: { a: seatRecord("a"), b: seatRecord("b", { groupRank: 1 }) },
		});
		const settled = resolveCharge(
			view,
			{
				...runSpec({ minNodes: 1, maxRestarts: 100, maxIdenticalFailures: 3 }),
				...config,
			},
			0,
		);
		if (settled === undefined) throw new Error("the charge was decided before");
		round = settled.round;
		const barred = settled.budgets.get(on)?.barred;
		verdicts.push(
			settled.round.outcome !== null
				? "ends"
				: barred === undefined
					? "goes on"
					: "barred",
		);
		if (settled.round.outcome !== null) break;
	}
	return { verdicts, round: round as RoundRecord };
}

const times = (count: number, incident: Failed = {}) =>
	Array.from({ length: count }, () => incident);
const LONG: Failed = { failure: { uptimeMs: 60_000 } };
const OTHER: Failed = { failure: { fingerprint: "exit code 2" } };
const KILLED: Failed = { failure: { fingerprint: undefined } };

const IN_VAIN: Partial<FailureRecord> = {
	...{ fingerprint: "exit code 1; ImportError; no x", isInVain: true },
	uptimeMs: 90,
};
const REFUSED: Failed = { failure: { fingerprint: "exit code 1; OSError" } };
const alike = (change: Partial<FailureRecord> = {}) => ({
	failure: nodeFailure("a", {
		failure: failureRecord("a", { round: 1, ...IN_VAIN, ...change }),
	}),
});

describe("C5 the first round fails of what no restart can change", () => {
	it.each<[string, Failed, Partial<PlannerConfig>, string]>([
		["on all nodes: ends the run", { peer: alike() }, {}, "ends"],
		["on one node only", {}, {}, "goes on"],
		[
			"and in another way on another node",
			{
				peer: alike({
					fingerprint: "exit code 1; OSError",
					isInVain: undefined,
				}),
			},
			{},
			"goes on",
		],
		["after a step", { peer: alike(), step: 1 }, {}, "goes on"],
		[
			"as a rule expects",
			{ peer: alike(), failure: { rule: "r" } },
			{},
			"goes on",
		],
		["and costs nothing", { peer: alike(), charge: "nothing" }, {}, "goes on"],
		["while a spare waits", { peer: alike(), hasSpare: true }, {}, "goes on"],
		[
			"where its node may be replaced",
			{ peer: alike() },
			{ maxNodeRestarts: 1 },
			"goes on",
		],
		[
			"with the limit off",
			{ peer: alike() },
			{ maxIdenticalFailures: 0 },
			"goes on",
		],
	])("%s", (_, incident, config, verdict) => {
		const failure = { ...IN_VAIN, ...incident.failure };
		const { verdicts, round } = play([{ ...incident, failure }], config);
		expect(verdicts.join()).toBe(verdict);
		expect(round.charged).toBe(verdict === "ends" ? 0 : round.charged);
	});

	it("but not one that may pass by itself, nor in a later round", () => {
		const { verdicts } = play([
			REFUSED,
			{ failure: IN_VAIN, peer: alike({ round: 2 }) },
		]);
		expect(verdicts.join()).toBe("goes on,goes on");
	});
});

describe("same failures in a row", () => {
	it.each<[string, readonly Failed[], Partial<PlannerConfig>, string]>([
		["end the run", times(9), {}, "goes on, goes on, ends"],
		[
			"do not where that is off",
			times(4),
			{ maxIdenticalFailures: 0 },
			"goes on, goes on, goes on, goes on",
		],
		[
			"do not beyond the furthest step",
			[{ step: 100 }, { step: 100 }, { step: 101 }, { step: 101 }],
			{},
			"goes on, goes on, goes on, goes on",
		],
		[
			"end the run where only others run ahead of the worker that fails",
			[100, 104, 109].map((step) => ({ step, failure: { step: 100 } })),
			{},
			"goes on, goes on, ends",
		],
		[
			"do not where the worker itself gets further",
			[1, 2, 3, 4].map((step) => ({ step: 9, failure: { step } })),
			{},
			"goes on, goes on, goes on, goes on",
		],
		[
			"end the run where another makes its first step before this one fails at its start",
			[{}, { step: 1 }, { step: 1 }],
			{},
			"goes on, goes on, ends",
		],
		[
			"do not where steps start over",
			times(4, { step: null }),
			{},
			"goes on, goes on, goes on, goes on",
		],
		[
			"end the run where a long round makes no step beyond",
			[{ step: 7 }, { step: 7, ...LONG }, LONG],
			{},
			"goes on, goes on, ends",
		],
		[
			"are not in a row with another between them",
			[{}, {}, OTHER, {}, {}],
			{},
			"goes on, goes on, goes on, goes on, goes on",
		],
		[
			"are not in a row with a kill from outside between them",
			[{}, {}, KILLED, {}, {}],
			{},
			"goes on, goes on, goes on, goes on, goes on",
		],
		[
			"are in a row across what costs nothing",
			[{}, {}, { ...OTHER, charge: "nothing" }, {}],
			{},
			"goes on, goes on, goes on, ends",
		],
	])("%s", (_, incidents, config, verdicts) => {
		expect(play(incidents, config).verdicts.join(", ")).toBe(verdicts);
	});

	it("end with a reason that names rank, node and step, and with each failure", () => {
		const { round } = play([{ step: 100 }, { step: 90 }, { step: 100 }]);
		expect(round.outcome).toMatchObject({
			...{ result: "failed", exitCode: 1 },
			reason:
				"rank 3 on b: exit code 1; no restart got beyond step 100: 3 failures in a row were the same (--max-identical-failures)",
			repeated: [
				"round 1: rank 3 on b: exit code 1: ValueError: x",
				"round 2: rank 3 on b: exit code 1: ValueError: x",
				"round 3: rank 3 on b: exit code 1: ValueError: x",
			],
		});
	});
});

describe("same failures of a role that restarts alone", () => {
	/** The trainers run on and make steps; the reader fails. */
	const readerFails = (step: number, failure = {}): Failed => ({
		failure: { role: "reader", ...failure },
		peer: { role: "trainer", runsOn: true, reached: { round: 0, step } },
	});

	it("D3 end the run, however far the others come meanwhile", () => {
		const { verdicts } = play([5, 50, 500].map((step) => readerFails(step)));
		expect(verdicts).toEqual(["goes on", "goes on", "ends"]);
	});

	it("D3 do not where the role counts no steps and each time runs for long", () => {
		const incidents = [5, 50, 500, 5_000].map((step) =>
			readerFails(step, { uptimeMs: 60_000 }),
		);
		expect(play(incidents).verdicts).not.toContain("ends");
	});
});

describe("same failures of one node, whose own budget pays", () => {
	const ofNode: Failed = { charge: "node" };

	it.each<[string, readonly Failed[], Partial<PlannerConfig>, string]>([
		["keep it out", times(3, ofNode), {}, "goes on, goes on, barred"],
		[
			"end the run if there is no suspect, for which nothing is known of the node",
			times(3, { charge: "run", failure: { isUnattributed: true } }),
			{ maxNodeRestarts: 9 },
			"goes on, goes on, ends",
		],
		[
			"end the run where the others are too few",
			times(3, ofNode),
			{ minNodes: 2 },
			"goes on, goes on, ends",
		],
		[
			"end the run where no other can come",
			times(3, ofNode),
			{ isAlone: true },
			"goes on, goes on, ends",
		],
		[
			"end the run where another node has them too",
			[{ ...ofNode, on: "a" }, ofNode, ofNode],
			{},
			"goes on, goes on, ends",
		],
	])("%s", (_, incidents, config, verdicts) => {
		expect(play(incidents, config).verdicts.join(", ")).toBe(verdicts);
	});
});
