import { describe, expect, it } from "vitest";
import { formatNodes } from "../../../src/operate/format-nodes.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { BudgetRecord } from "../../../src/rendezvous/records/records.js";
import { accountsOf } from "../../../src/status/node-accounts.js";
import { runSpec } from "../../helpers/run-settings.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import {
	failureRecord,
	nodeRecord,
	roundRecord,
} from "../../helpers/run-view.js";

const HOUR = 3_600_000;
const KEYS = new RunKeys("r");

describe("the account of a node", () => {
	it("D2 tells the budget with the least left: here the node's limit, in its window", () => {
		const spec = runSpec({
			...{ maxRestarts: 9, maxNodeRestarts: 2, nodeWindowMs: HOUR },
		});
		const failures = { count: 3, at: [0, 2 * HOUR, 2.5 * HOUR] };
		const budget: BudgetRecord = { version: 1, charged: 0, failures };
		const other: BudgetRecord = { version: 1, charged: 1 };
		const snapshot = snapshotOf({
			[KEYS.round]: roundRecord({}),
			[KEYS.spec]: spec,
			[KEYS.node("a")]: nodeRecord("a"),
			[KEYS.budget("a")]: budget,
			[KEYS.budget("gone")]: other,
		});
		const accounts = accountsOf("r", snapshot, 2.75 * HOUR);
		expect(accounts?.nodes).toMatchObject([
			{
				nodeId: "a",
				restarts: {
					...{ allowed: 2, used: 2, left: 0 },
					...{ windowSeconds: 3_600, nextBackAt: 3 * HOUR },
				},
			},
			{ nodeId: "gone", part: "absent", restarts: { allowed: 2, left: 2 } },
		]);
		if (accounts === undefined) throw new Error("no accounts");
		expect(formatNodes(accounts, 0)).toMatch(/\na .* 2 of 2 in 1 h 0 min/);
	});

	it.each([
		[undefined, 1],
		[true, 0],
	])("D2 counts the failures of the node, not those that only stand for the round (%s): %s", (isUnattributed, failures) => {
		const root = failureRecord("a", { isUnattributed });
		const snapshot = snapshotOf({
			[KEYS.round]: roundRecord({ cause: { ...roundRecord().cause, root } }),
			[KEYS.spec]: runSpec(),
			[KEYS.node("a")]: nodeRecord("a"),
		});
		const accounts = accountsOf("r", snapshot, 0);
		expect(accounts?.nodes).toMatchObject([{ nodeId: "a", failures }]);
	});
});
