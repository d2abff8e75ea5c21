import { describe, expect, it } from "vitest";
import { ownBudget } from "../../../src/status/budgets.js";
import { runSpec } from "../../helpers/run-settings.js";

const RECORD = { version: 1, charged: 0 } as const;

describe("D2 what a node's own report says of its budget", () => {
	it.each([
		{
			words: "nothing, if the run pays for all",
			spec: { policy: "hard", maxRestarts: 3 },
			record: RECORD,
			budget: null,
		},
		{
			words: "the node's limit alone, if the run pays for the rest",
			spec: { policy: "hard", maxRestarts: 3, maxNodeRestarts: 5 },
			record: { ...RECORD, failures: { count: 1, at: [] } },
			budget: { allowed: 5, used: 1, left: 4 },
		},
		{
			words: "what a node that pays has, before anything failed",
			spec: { policy: "soft", maxRestarts: 3 },
			record: undefined,
			budget: { allowed: 3, used: 0, left: 3 },
		},
		{
			words: "that of the worker with the least",
			spec: { policy: "soft-replace", maxRestarts: 3 },
			record: { ...RECORD, workers: { 0: 1, 1: 2 } },
			budget: { allowed: 3, used: 2, left: 1 },
		},
		{
			words: "what a policy of the user's own has charged to it",
			spec: { policy: "mine", maxRestarts: 3 },
			record: { ...RECORD, charged: 1 },
			budget: { allowed: 3, used: 1, left: 2 },
		},
	])("$words", ({ spec, record, budget }) => {
		expect(ownBudget(record, runSpec(spec), 0)).toEqual(budget);
	});
});
