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

const plan = (view: RunView) =>
	planRound(view, EMPTY_MEMORY, CONFIG, "plan-3", { now: 0, wallTime: 0 });

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

describe("T16 a worker that dies in the round after a failure", () => {
	it("of which it had not heard: the same incident, nobody pays", () => {
		const view = runView(ROUND_2, [died({ stillIn: 1 }), running("c")], {
			seats: SEATS,
		});
		const { plan: update, reason } = plan(view);
		const words = "rank 0 on a: aborted, part of the same incident";
		expect(reason).toBe(words);
		expect(update).toMatchObject({
			budgets: new Map(),
			round: {
				...{ deprecated: 2, incidents: 1, charged: 0 },
				cause: { root: ROOT, reason: words, changeEvent: "SCALE_DOWN" },
			},
		});
	});

	it.each([
		["of which it had heard", {}, CAUSE],
		[
			"of an earlier one",
			{ stillIn: 1 },
			{ ...CAUSE, root: failureRecord("c", { round: 2 }) },
		],
		[
			"which no failure had ended, nor the one that it was still in",
			{ stillIn: 0 },
			{ ...CAUSE, root: null, ended: 1 },
		],
		[
			"once more in its place, after a round that was left for who died of a change",
			{ stillIn: 1, isLateAgain: true },
			{ ...CAUSE, root: null, ended: 0 },
		],
		[
			"once more in its place, after a round that was left for who died of a failure",
			{ stillIn: 1, isLateAgain: true },
			{ ...CAUSE, root: failureRecord("c", { round: 0 }) },
		],
	])("%s: an incident of its own", (_, change, cause) => {
		const view = runView({ ...ROUND_2, cause }, [died(change), running("c")], {
			seats: SEATS,
		});
		expect(plan(view).plan).toMatchObject({
			budgets: new Map([["a", { charged: 1 }]]),
			round: { incidents: 2, cause: { root: { nodeId: "a" } } },
		});
	});

	it("of a change of the members of which it had not heard: part of that, nobody pays", () => {
		const reason = "b left: SIGTERM";
		const cause: RoundCause = {
			...CAUSE,
			kind: "scale-down",
			reason,
			root: null,
			ended: 1,
		};
		const view = runView(
			{ ...ROUND_2, incidents: 0, cause },
			[died({ stillIn: 1 }), running("c")],
			{ seats: SEATS },
		);
		const { plan: update, reason: words } = plan(view);
		expect(words).toBe(
			"rank 0 on a: aborted, as its round was left: b left: SIGTERM",
		);
		expect(update).toMatchObject({
			budgets: new Map(),
			round: {
				...{ deprecated: 2, incidents: 0, charged: 0, accounted: ["a/a-1/1"] },
				cause: { kind: "failure", reason: words, root: null, ended: 1 },
			},
		});
	});

	it.each([
		["within the settle time: part of the change, nobody pays", 999, 0, null],
		["long after it was paused: an incident", 1_000, 1, "a"],
	])("while it is paused for a change of the members, %s", (_, now, charged, root) => {
		const reason = "b left: SIGTERM";
		const cause = { ...CAUSE, kind: "scale-down", reason, root: null } as const;
		const view = runView(
			{ ...ROUND_2, deprecated: 2, incidents: 0, cause },
			[died({ unaware: true, paused: true }), running("c", { claim: 3 })],
			{ seats: SEATS },
		);
		const memory = {
			...EMPTY_MEMORY,
			settle: { round: 2, at: 1_000, longerByMs: 0 },
		};
		const time = { now, wallTime: 0 };
		const { plan: update } = planRound(view, memory, CONFIG, "plan-3", time);
		const { round } = { round: undefined, ...update };
		expect(round).toMatchObject({ incidents: charged });
		expect(round?.cause.root?.nodeId ?? null).toBe(root);
	});

	it("while its node is waited for beyond the settle time: part of the change, too", () => {
		const reason = "b left: SIGTERM";
		const cause = { ...CAUSE, kind: "scale-down", reason, root: null } as const;
		const round = { ...ROUND_2, deprecated: 2, incidents: 0, cause };
		const viewOf = (change: Partial<NodeRecord>) =>
			runView(
				round,
				[
					running("a", {
						state: "stopping",
						awaitsWorkersMs: 5_000,
						...change,
					}),
					running("c", { claim: 3 }),
				],
				{ seats: SEATS },
			);
		const planAt = (view: RunView, now: number, memory = EMPTY_MEMORY) =>
			planRound(view, memory, CONFIG, "plan-3", { now, wallTime: 0 });
		const { memory } = planAt(viewOf({}), 0);
		const { failure } = died({ unaware: true, paused: true });
		const dead = viewOf({ failure, awaitsWorkersMs: undefined });
		const longer = CONFIG.settleTimeoutMs + 5_000;
		const incidentsAt = (now: number) => {
			const { plan: update } = planAt(dead, now, memory);
			return { round: undefined, ...update }.round?.incidents;
		};
		expect([incidentsAt(longer - 1), incidentsAt(longer)]).toEqual([0, 1]);
	});

	it.each<[string, Partial<NodeFailure>, Partial<RoundCause>]>([
		["a failure", {}, { root: failureRecord("c", { round: 0 }) }],
		["a change of the members", {}, { root: null, ended: 0 }],
		[
			"a failure, and of that itself, as one before it",
			{ isLateAgain: true },
			{ root: failureRecord("c", { round: 1 }) },
		],
	])("when a round was left for who had died late of %s: part of it, nobody pays", (_, change, cause) => {
		const view = runView(
			{ ...ROUND_2, cause: { ...CAUSE, ...cause } },
			[died({ stillIn: 1, ...change }), running("c")],
			{ seats: SEATS },
		);
		expect(plan(view).plan).toMatchObject({
			budgets: new Map(),
			round: { incidents: 1, cause: { root: cause.root } },
		});
	});

	it("beside another one that fails by itself: that one is the root", () => {
		const failure = failureRecord("c", { id: "c/c-1/2", round: 2 });
		const fails = running("c", {
			failure: nodeFailure("c", { charge: "node", failure }),
		});
		const view = runView(ROUND_2, [died({ stillIn: 1 }), fails], {
			seats: SEATS,
		});
		expect(plan(view).plan).toMatchObject({
			budgets: new Map([["c", { charged: 1 }]]),
			round: {
				incidents: 2,
				cause: { root: failure },
				accounted: ["a/a-1/1", "c/c-1/2"],
			},
		});
	});

	it("still ends the run where trying again cannot help", () => {
		const view = runView(
			ROUND_2,
			[died({ stillIn: 1, failsRun: 127 }), running("c")],
			{ seats: SEATS },
		);
		expect(plan(view).plan).toMatchObject({
			round: { outcome: { exitCode: 127 } },
		});
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
	const CHANGE = { ...CAUSE, root: null, reason: "b left", ended: 1 } as const;

	it("is part of the incident, and named", () => {
		expect(crossed({})).toMatchObject({
			...{ reason: REASON, budgets: new Map() },
			round: { deprecated: 2, incidents: 1, accounted: ["a/a-1/1"] },
		});
	});

	it("is part of a change of the members", () => {
		const { round, budgets } = crossed({}, { cause: CHANGE, incidents: 0 });
		expect(round).toMatchObject({ deprecated: 2, incidents: 0 });
		expect(budgets).toEqual(new Map());
	});

	it("is an incident where it has not died of anything", () => {
		const own = { unaware: undefined, paused: undefined };
		const { round, budgets } = crossed(own, { cause: CHANGE, incidents: 0 });
		expect(round).toMatchObject({ incidents: 1 });
		expect(budgets).toEqual(new Map([["a", { version: 1, charged: 1 }]]));
	});

	it("ends the run where that is what its policy says, though its node goes on", () => {
		expect(crossed({ failsRun: 1, claim: 2 }).round).toMatchObject({
			outcome: { exitCode: 1 },
		});
	});

	it("changes nothing where its node takes part all the same", () => {
		expect(crossed({ claim: 2 }).reason).toBe("round 2 runs");
	});

	it("is accounted for once", () => {
		const accounted = ["a/a-1/1"];
		expect(crossed({}, { accounted }).reason).toBe("a asks for a new round");
	});

	it("is not heard from a node that the round has no seat for", () => {
		const { a, ...others } = SEATS;
		const seats = { ...others, a: { ...a, incarnation: "a-0" } };
		expect(crossed({}, {}, seats).reason).toBe("a was restarted");
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

describe("a newcomer", () => {
	const view = (claim: number) =>
		runView(ROUND_2, [running("a"), running("c"), nodeRecord("d", { claim })], {
			seats: SEATS,
		});

	it("that claims the next round is let in", () => {
		expect(plan(view(3)).plan).toMatchObject({
			round: { deprecated: 2, cause: { kind: "scale-up" } },
		});
	});

	it("that claims an older one has not seen this one: nothing is left for it", () => {
		expect(plan(view(2))).toMatchObject({
			plan: undefined,
			reason: "round 2 runs",
		});
	});
});
