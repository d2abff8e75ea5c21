import { describe, expect, it } from "vitest";
import {
	HardRestartPolicyStrategy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "../../../src/policies/built-in.js";
import { askPolicy } from "../../../src/policies/check-decision.js";
import type {
	RestartPolicyStrategy,
	WorkerFailureContext,
} from "../../../src/policies/strategy.js";

const CONTEXT: WorkerFailureContext = {
	runId: "r",
	nodeId: "node-a",
	round: 2,
	maxRestarts: 3,
	charged: 0,
	cause: "why",
	rank: 2,
	localRank: 0,
	role: "default",
	exitCode: 9,
	signal: null,
	uptimeMs: 1_000,
	errorMessage: undefined,
};

interface Row {
	readonly policy: RestartPolicyStrategy;
	/** Workers and charge when nodes come, when one goes, when a worker fails. */
	readonly cells: readonly [string, string, string];
	readonly finishedNodes: RestartPolicyStrategy["finishedNodes"];
}

const ROWS: readonly Row[] = [
	{
		policy: new HardRestartPolicyStrategy(),
		cells: ["restart, nothing", "restart, nothing", "restart, run"],
		finishedNodes: undefined,
	},
	{
		policy: new SoftRestartPolicyStrategy(),
		cells: ["pause, nothing", "pause, nothing", "restart, node"],
		finishedNodes: "stay",
	},
	{
		policy: new SoftReplaceRestartPolicyStrategy(),
		cells: ["pause, nothing", "pause, nothing", "replace-failed, worker"],
		finishedNodes: "stay",
	},
];

describe.each(ROWS)("T4 the row of $policy.name", ({
	policy,
	cells,
	finishedNodes,
}) => {
	it("decides what its table says, and why", () => {
		const decisions = [
			askPolicy(policy.name, "scale", () => policy.onScaleUp(CONTEXT)),
			askPolicy(policy.name, "scale", () => policy.onScaleDown(CONTEXT)),
			askPolicy(policy.name, "failure", () => policy.onWorkerFailure(CONTEXT)),
		];
		expect(
			decisions.map(({ workers, charge }) => `${workers}, ${charge}`),
		).toEqual(cells);
		expect(decisions.map(({ reason }) => reason)).toEqual(
			cells.map(() => "why"),
		);
	});

	it("says what becomes of nodes that have finished", () => {
		expect(policy.finishedNodes).toBe(finishedNodes);
	});
});
