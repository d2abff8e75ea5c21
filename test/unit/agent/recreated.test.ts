import { describe, expect, it } from "vitest";
import type { AgentState } from "../../../src/agent/machine/state.js";
import { transition } from "../../../src/agent/machine/transition.js";
import { HardRestartPolicyStrategy } from "../../../src/policies/hard-restart-policy.js";
import { roundRecord, seatRecord } from "../../helpers/run-view.js";
import { workerSlot } from "../../helpers/worker-slots.js";

const CONTEXT = {
	...{ now: 1_000, wallTime: 5, runId: "r", nodeId: "a", incarnation: "a-1" },
	...{ policy: new HardRestartPolicyStrategy(), maxRestarts: 3, rules: [] },
	...{ shutdownTimeoutMs: 30_000, pauseTimeoutMs: 60_000, recreatesWith: 76 },
	isStartedAnew: false,
};
const SEAT = seatRecord("a", { localWorldSize: 1 });
const ROUND = roundRecord({ synced: 1, planId: "plan-1", seats: 2 });
const COMMON = {
	view: { round: ROUND, seat: SEAT },
	...{ instance: 1, failure: null, failuresReported: 0, round: 1 },
};
const STOPPING: AgentState = {
	...{ ...COMMON, phase: "STOPPING", seat: SEAT, claim: 2 },
	workers: [workerSlot(0, { killAt: 31_000 })],
	next: { kind: "rejoin" },
};
const FINISHED: AgentState = {
	...{ ...COMMON, phase: "FINISHED", planId: "plan-1" },
};
const JOINING: AgentState = {
	...{
		...COMMON,
		phase: "JOINING",
		round: 0,
		seat: null,
		workers: [],
		claim: 1,
	},
};
const GONE = { kind: "worker-gone", localRank: 0 } as const;
const seen = (deprecated: number, exitCode?: number) => ({
	kind: "round-seen" as const,
	view: {
		round: {
			...ROUND,
			deprecated,
			outcome:
				exitCode === undefined
					? null
					: {
							result: "failed" as const,
							exitCode,
							reason: "spent",
							root: null,
						},
		},
		seat: null,
	},
});

describe("an agent whose process ends with its round", () => {
	it("waits until the others know that its round is over, and then ends with its code", () => {
		const gone = transition(STOPPING, GONE, CONTEXT).state;
		expect(gone.phase).toBe("STOPPING");
		expect(transition(gone, seen(1), CONTEXT).state).toMatchObject({
			phase: "CLOSED",
			ending: { outcome: "left", exitCode: 76 },
		});
	});

	it("ends with the run's outcome if there is one", () => {
		const gone = transition(STOPPING, GONE, CONTEXT).state;
		expect(transition(gone, seen(1, 1), CONTEXT).state).toMatchObject({
			ending: { outcome: "failed", exitCode: 1 },
		});
	});

	it("does the same when it had finished", () => {
		expect(transition(FINISHED, seen(1), CONTEXT).state).toMatchObject({
			ending: { outcome: "left", exitCode: 76 },
		});
	});

	it("claims the next round like any other if it has had none", () => {
		expect(transition(JOINING, seen(1), CONTEXT).state).toMatchObject({
			...{ phase: "JOINING", claim: 2 },
		});
	});
});
