import { describe, expect, it } from "vitest";
import { EMPTY_MEMORY } from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type {
	NodeFailure,
	NodeRecord,
	RoundCause,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import {
	failureRecord,
	nodeFailure,
	nodeRecord,
	runView,
	seatRecord,
} from "../../helpers/run-view.js";

const CONFIG = runSpec();

const plan = (view: RunView, memory = EMPTY_MEMORY, now = 0) =>
	planRound(view, memory, CONFIG, "plan-3", { now, wallTime: 0 });

const ROOT = failureRecord("c", { round: 1, description: "exit code 9" });
const CAUSE: RoundCause = {
	kind: "failure",
	changeEvent: "SCALE_DOWN",
	reason: "rank 0 on c: exit code 9",
	root: ROOT,
};
/** Round 2 runs since node c's worker failed in round 1. */
const ROUND_2 = {
	...{ synced: 2, deprecated: 1, planId: "plan-2", seats: 2 },
	...{ incidents: 1, charged: 0, cause: CAUSE },
};
const SEATS = {
	a: seatRecord("a", { planId: "plan-2", round: 2 }),
	c: seatRecord("c", { planId: "plan-2", round: 2, groupRank: 1 }),
};
const running = (nodeId: string, change: Partial<NodeRecord> = {}) =>
	nodeRecord(nodeId, { state: "running", claim: 2, ...change });

/** What node a says when its worker has died in round 2. */
const died = (change: Partial<NodeFailure> = {}) =>
	running("a", {
		...{ state: "stopping", claim: 3 },
		failure: nodeFailure("a", {
			charge: "node",
			failure: failureRecord("a", { round: 2, description: "aborted" }),
			...change,
		}),
	});

describe("T16 a worker that fails in the round after a failure", () => {
	const ended = { ...CAUSE, kind: "scale-down", root: null, ended: 1 } as const;
	const leaves = { ...ended, reason: "b left: SIGTERM" };

	it("before it has gone on: the same incident, nobody pays", () => {
		const view = runView(ROUND_2, [died({ paused: true }), running("c")], {
			seats: SEATS,
		});
		const { plan: update, reason } = plan(view);
		const words = "rank 0 on a: aborted, part of the same incident";
		expect(reason).toBe(words);
		expect(update).toMatchObject({
			budgets: new Map(),
			round: {
				...{ deprecated: 2, incidents: 1, charged: 0, accounted: ["a/a-1/1"] },
				cause: { root: ROOT, reason: words, changeEvent: "SCALE_DOWN" },
			},
		});
	});

	it.each([
		["when it has gone on", {}],
		["once more in its place", { unaware: true }],
	])("%s: an incident of its own", (_, change) => {
		const view = runView(ROUND_2, [died(change), running("c")], {
			seats: SEATS,
		});
		expect(plan(view).plan).toMatchObject({
			budgets: new Map(),
			round: {
				...{ incidents: 2, cause: { root: { nodeId: "a" } } },
				unpaid: { failure: { nodeId: "a" } },
			},
		});
	});

	it("when the round has run for the settle time: an incident of its own", () => {
		const nodes = [running("a"), running("c")];
		const { memory } = plan(runView(ROUND_2, nodes, { seats: SEATS }));
		const failed = [died({ paused: true }), running("c")];
		const view = runView(ROUND_2, failed, { seats: SEATS });
		const { settleTimeoutMs } = CONFIG;
		const incidentsAt = (now: number) => {
			const { plan: update } = plan(view, memory, now);
			return { round: undefined, ...update }.round?.incidents;
		};
		expect(incidentsAt(settleTimeoutMs - 1)).toBe(1);
		expect(incidentsAt(settleTimeoutMs)).toBe(2);
	});

	it.each([
		["for the first time: part of the change, nobody pays", true, 0],
		["again in its place: an incident", undefined, 1],
	])("while it is paused for a change of the members, %s", (_, paused, incidents) => {
		const view = runView(
			{ ...ROUND_2, deprecated: 2, incidents: 0, cause: leaves },
			[died({ paused }), running("c", { claim: 3 })],
			{ seats: SEATS },
		);
		const { plan: update } = plan(view);
		const { round } = { round: undefined, ...update };
		expect(round).toMatchObject({ incidents });
		expect(round?.unpaid?.failure.nodeId).toBe(incidents ? "a" : undefined);
	});

	it("again in its place, while a failure is open: that one is charged, and once", () => {
		const unpaid = nodeFailure("c");
		const view = runView(
			{ ...ROUND_2, deprecated: 2, unpaid },
			[died(), running("c", { claim: 3 })],
			{ seats: SEATS },
		);
		expect(plan(view).plan).toMatchObject({ round: { incidents: 1, unpaid } });
	});
});

describe("T16 a worker that dies while it is paused, told when the next round has begun", () => {
	/** Round 2 has begun while node a said that its worker had died in round 1. */
	const crossed = (
		{ claim = 3, ...change }: Partial<NodeFailure> & { claim?: number },
		round: Partial<RoundRecord> = {},
		seats = SEATS,
	) => {
		const failure = failureRecord("a", { round: 1, description: "aborted" });
		const reported = { unaware: true, paused: true, failure, ...change };
		const record = running("a", {
			...{ state: "stopping", claim },
			failure: nodeFailure("a", { charge: "node", ...reported }),
		});
		const view = runView({ ...ROUND_2, ...round }, [record, running("c")], {
			seats,
		});
		const { plan: update, reason } = plan(view);
		return { reason, budgets: new Map(), round: undefined, ...update };
	};
	const REASON = "rank 0 on a: aborted, part of the same incident";

	it("is part of the incident, and named", () => {
		expect(crossed({})).toMatchObject({
			...{ reason: REASON, budgets: new Map() },
			round: { deprecated: 2, incidents: 1, accounted: ["a/a-1/1"] },
		});
	});

	it("is accounted for once", () => {
		const accounted = ["a/a-1/1"];
		expect(crossed({}, { accounted }).reason).toBe("a asks for a new round");
	});
});

describe("what has been accounted for", () => {
	it("of the round that was left, is remembered while the next one runs", () => {
		const failure = failureRecord("a", { round: 2 });
		const ready = (nodeId: string, change: Partial<NodeRecord> = {}) =>
			running(nodeId, { state: "ready", claim: 3, ...change });
		const nodes = [
			ready("a", { failure: nodeFailure("a", { failure }) }),
			ready("c", { failure: nodeFailure("c", { failure: ROOT }) }),
		];
		const accounted = [failure.id, ROOT.id, "b/b-1/1"];
		const view = runView({ ...ROUND_2, deprecated: 2, accounted }, nodes, {
			seats: SEATS,
		});
		expect(plan(view).plan).toMatchObject({
			kind: "lift",
			round: { synced: 3, accounted: [failure.id] },
		});
	});
});
