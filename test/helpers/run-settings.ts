import type {
	AgentIdentity,
	Intent,
} from "../../src/rendezvous/records/intent.js";
import type { RunSpec } from "../../src/rendezvous/records/run-spec.js";

/** What agents have agreed on, a planner's settings among it, changed as given. */
export function runSpec(change: Partial<RunSpec> = {}): RunSpec {
	return {
		version: 1,
		minNodes: 2,
		maxNodes: 3,
		policy: "hard",
		maxRestarts: 1,
		joinTimeoutMs: 600_000,
		lastCallTimeoutMs: 30_000,
		settleTimeoutMs: 35_000,
		leaseTtlMs: 5_000,
		...change,
	};
}

export function agentIdentity(
	change: Partial<AgentIdentity> = {},
): AgentIdentity {
	return {
		nodeId: "a",
		incarnation: "a-1",
		hostId: "host",
		pid: 1,
		startTime: "1",
		address: "a.example",
		localWorldSize: 1,
		role: "default",
		...change,
	};
}

/** What an agent wants its record to say: unless changed that it is ready for the first round. */
export function intentOf(change: Partial<Intent> = {}): Intent {
	return {
		state: "ready",
		claim: 1,
		failure: null,
		cause: null,
		finishedPlan: null,
		pids: [],
		since: 0,
		...change,
	};
}
