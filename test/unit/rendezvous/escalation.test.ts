import { describe, expect, it } from "vitest";
import { parseEscalation } from "../../../src/config/parse/restarts.js";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import { resolveCharge } from "../../../src/rendezvous/planner/resolve-charge.js";
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
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const ALL = "soft,hard,replace-node,fail-run";
const SEATS = { a: seatRecord("a"), b: seatRecord("b", { groupRank: 1 }) };

const NOBODY = { failure: failureRecord("b", { isUnattributed: true }) };

interface Incident {
	/** How far node a came, which says so only once it has left the round. */
	readonly step?: number;
	readonly charge?: NodeFailure["charge"];
	/** There is no suspect: rank 0 on b only stands for all. */
	readonly isUnattributed?: boolean;
	/** Node a has gone meanwhile. */
	readonly isGone?: boolean;
}

/** Plays failures on node b, one after another: what other nodes are told at once, and what is decided in the end. */
function play(
	incidents: readonly Incident[],
	escalate = ALL,
	maxIdenticalFailures = 0,
) {
	const config = runSpec({
		...{ minNodes: 1, maxRestarts: 99, maxIdenticalFailures, escalate },
	});
	let known: Partial<RoundRecord> = { planId: "plan-1", seats: 2 };
	return incidents.map((incident, index) => {
		const { step, charge = "run", isGone = false, isUnattributed } = incident;
		const synced = index + 1;
		const failure = failureRecord("b", {
			...{ round: synced, fingerprint: "x", isUnattributed },
		});
		const failed = nodeFailure("b", {
			failure: { ...failure, id: `b/${synced}` },
			charge,
		});
		const b = nodeRecord("b", { claim: synced + 1, failure: failed });
		const a = (change: Partial<NodeRecord>) => nodeRecord("a", change);
		const running = runView(
			{ ...known, synced, deprecated: index },
			[a({ claim: synced, state: "running" }), b],
			{ seats: SEATS },
		);
		const time = { now: 0, wallTime: 0 };
		const { plan } = planRound(running, EMPTY_MEMORY, config, "p", time);
		if (plan?.kind !== "update") throw new Error("the round was not left");
		const reached = step === undefined ? undefined : { round: synced, step };
		const left = runView(
			plan.round,
			[...(isGone ? [] : [a({ claim: synced + 1, reached })]), b],
			{ seats: SEATS },
		);
		const settled = resolveCharge(left, config, 0);
		if (settled === undefined) throw new Error("nothing is open");
		known = settled.round;
		const barred = settled.budgets.get("b")?.barred;
		const ending = settled.round.outcome?.reason ?? barred;
		const told = plan.round.escalation?.rung;
		return ending === undefined ? `${told}` : `${told}: ${ending}`;
	});
}

const times = (count: number, incident: Incident = {}) =>
	Array.from({ length: count }, () => incident);

describe("escalation", () => {
	it("D1 takes the next rung while nothing gets further, and says why", () => {
		expect(play(times(4), ALL, 3)).toEqual([
			"soft",
			"hard",
			"replace-node: b has failed again: replace-node, because hard brought no step forward",
			"fail-run: rank 0 on b: exit code 1; fail-run, because replace-node brought no step forward",
		]);
	});

	it("replaces no node that is not known to be at fault, and says so", () => {
		const view = runView(
			{
				...{ planId: "plan-1", seats: 1, synced: 1 },
				escalation: { at: 1, rung: "hard" },
			},
			[nodeRecord("b", { claim: 2, failure: nodeFailure("b", NOBODY) })],
			{ seats: { b: seatRecord("b") } },
		);
		const config = runSpec({ minNodes: 1, escalate: ALL });
		const time = { now: 0, wallTime: 0 };
		const { plan } = planRound(view, EMPTY_MEMORY, config, "p", time);
		expect(plan).toMatchObject({
			round: {
				cause: {
					reason:
						"rank 0 on b: exit code 1; hard, because it is not known which node is to be replaced",
				},
			},
		});
	});

	it.each<[string, readonly Incident[], string, string]>([
		["is off without rungs", times(2), "", "undefined, undefined"],
		[
			"stays on the last rung",
			[{ step: 1 }, ...times(3, { step: 1 })],
			"soft,hard",
			"soft, hard, hard, hard",
		],
		[
			"begins again after a step beyond the furthest one, also one that is known late",
			[{ step: 1 }, {}, { step: 2 }, {}],
			"soft,hard,fail-run",
			"soft, hard, fail-run, hard",
		],
		["may begin with a rung that says so", [{}], "fail-run", "fail-run"],
		[
			"leaves what costs nothing aside",
			[{}, { charge: "nothing" }, {}],
			"soft,hard",
			"soft, soft, hard",
		],
		[
			"takes the rung before again where it is not known which node to replace",
			[...times(4, { isUnattributed: true }), {}],
			"soft,hard,replace-node",
			"soft, hard, hard, hard, replace-node",
		],
		[
			"replaces no unknown node after it has replaced a known one",
			[...times(3, {}), ...times(2, { isUnattributed: true }), {}],
			"soft,hard,replace-node",
			"soft, hard, replace-node, hard, hard, replace-node",
		],
		[
			"restarts without a replacement where that is its only rung",
			[{}, { isUnattributed: true }, {}],
			"replace-node",
			"replace-node, replace-node, replace-node",
		],
		[
			"replaces no unknown node on its first rung",
			[...times(2, { isUnattributed: true }), {}],
			"replace-node",
			"undefined, undefined, replace-node",
		],
		[
			"takes a rung back where a node that went was the cause",
			[{}, { isGone: true }, {}],
			"soft,hard,fail-run",
			"soft, hard, hard",
		],
	])("%s", (_, incidents, rungs, expected) => {
		const told = play(incidents, rungs).map((words) => words.split(":")[0]);
		expect(told.join(", ")).toBe(expected);
	});

	it("tells users its reason with the failure's", () => {
		const view = runView(
			{
				...{ planId: "plan-1", seats: 1, synced: 1 },
				escalation: { at: 0, rung: "soft" },
			},
			[nodeRecord("b", { claim: 2, failure: nodeFailure("b") })],
			{ seats: { b: seatRecord("b") } },
		);
		const config = runSpec({ minNodes: 1, escalate: ALL });
		const time = { now: 0, wallTime: 0 };
		expect(planRound(view, EMPTY_MEMORY, config, "p", time).plan).toMatchObject(
			{
				round: {
					cause: {
						reason:
							"rank 0 on b: exit code 1; hard, because soft brought no step forward",
					},
				},
			},
		);
	});

	it.each(["soft", "hard,fail-run", ALL])("is set by %s", (text) => {
		expect(parseEscalation(text)).toEqual({ value: text.split(",") });
	});

	it.each([
		"",
		"hard,soft",
		"soft,soft",
		"sofd",
	])("is not set by %j", (text) => {
		expect(parseEscalation(text)).toHaveProperty("problems");
	});
});
