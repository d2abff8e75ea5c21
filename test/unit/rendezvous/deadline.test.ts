import { describe, expect, test } from "vitest";
import {
	EMPTY_MEMORY,
	type PlannerConfig,
} from "../../../src/rendezvous/planner/plan.js";
import { planRound } from "../../../src/rendezvous/planner/plan-round.js";
import type { RunView } from "../../../src/rendezvous/records/run-view.js";
import { runSpec } from "../../helpers/run-settings.js";
import { nodeRecord, runView, seatRecord } from "../../helpers/run-view.js";

const NOW = 5_000;
const BEGUN = 1_795_000_000_000;

/** Somebody has set the coordinator's clock. */
const WALL = BEGUN - 7_200_000;

function plan(view: RunView, leftMs: number, config: Partial<PlannerConfig>) {
	const { deadlineMs = 0 } = config;
	const life = { instance: BEGUN, from: NOW - deadlineMs + leftMs };
	const memory = { ...EMPTY_MEMORY, life };
	return planRound(view, memory, { ...runSpec(), ...config }, "plan-2", {
		now: NOW,
		wallTime: WALL,
	});
}

const waits = runView({ instance: BEGUN }, [nodeRecord("a")]);
const runs = runView(
	{ instance: BEGUN, synced: 1, deprecated: 0, planId: "plan-1", seats: 2 },
	[
		nodeRecord("a", { state: "running" }),
		nodeRecord("b", { state: "running" }),
	],
	{
		seats: {
			a: seatRecord("a", { groupRank: 0, firstRank: 0 }),
			b: seatRecord("b", { groupRank: 1, firstRank: 2 }),
		},
	},
);

describe.each([
	["waits for nodes", waits],
	["runs", runs],
])("P11 a run that %s", (_, view) => {
	test.each([
		[7_200_000, "deadline of 2h"],
		[90_000, "deadline of 90s"],
		[1_500, "deadline of 1500ms"],
	])("fails after %d ms", (deadlineMs, reason) => {
		const result = plan(view, 0, { deadlineMs });
		expect(result.plan).toMatchObject({
			kind: "update",
			round: {
				synced: view.round.synced,
				outcome: {
					...{ result: "failed", exitCode: 1, reason, root: null },
					endedAt: WALL,
				},
			},
		});
	});

	test("is looked at again when its deadline comes, not later", () => {
		const { plan: made, until } = plan(view, 10_000, { deadlineMs: 90_000 });
		expect(made).toBeUndefined();
		expect(until).toBe(NOW + 10_000);
		const long = plan(view, 10_000_000, { deadlineMs: 90_000_000 });
		const none = plan(view, 0, {});
		expect(long.until).toBe(none.until ?? NOW + 10_000_000);
	});

	test("goes on without a deadline", () =>
		expect(plan(view, -1e9, {}).plan).toBeUndefined());
});

test("P11 an outcome stays", () => {
	const outcome = {
		result: "succeeded",
		exitCode: 0,
		reason: "done",
		root: null,
	} as const;
	const ended = runView({ instance: BEGUN, outcome }, [nodeRecord("a")]);
	expect(plan(ended, -1, { deadlineMs: 1_000 }).plan).toBeUndefined();
});
