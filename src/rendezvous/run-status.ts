import type { FailureRecord } from "./failure.js";
import type { NodeState, Outcome, World } from "./records.js";

/** Where a run stands. `abandoned`: it has not ended, and none of its agents is there. */
export type RunPhase =
	| "forming"
	| "running"
	| "leaving"
	| "waiting"
	| "ended"
	| "abandoned";

/** A budget of restarts: what it allows, and what has been charged to it. */
export interface RestartBudget {
	readonly allowed: number;
	readonly used: number;
	readonly left: number;
}

/**
 * What `elastic-run status` tells of a run, and prints as JSON: documented in
 * docs/status.md. Times are milliseconds since 1970, null where not known.
 */
export interface RunStatus {
	readonly version: 1;
	readonly runId: string;
	readonly phase: RunPhase;
	readonly since: number | null;
	readonly instance: number;
	/** The newest round whose barrier has lifted; 0: none. */
	readonly round: number;
	/** The figures of that round. */
	readonly world: World | null;
	readonly minNodes: number | null;
	readonly maxNodes: number | null;
	readonly policy: string | null;
	/** Null: nothing is waited for. */
	readonly waiting: WaitingStatus | null;
	/** Node id of the agent that plans rounds; null: nobody does. */
	readonly coordinator: string | null;
	/** The run's own budget; null where its settings are not known. */
	readonly restarts: RestartBudget | null;
	readonly incidents: number;
	/** The newest incident of this instance. */
	readonly lastIncident: IncidentStatus | null;
	/** How it ended; null while it goes on. */
	readonly outcome: Outcome | null;
	/** Members by rank, then the others as they came. */
	readonly nodes: readonly NodeStatus[];
}

export interface WaitingStatus {
	/** "waiting for 1 more node (at least 2): node-a is here; 590 s left". */
	readonly words: string;
	readonly since: number | null;
	readonly until: number | null;
	/** How many more nodes must come. */
	readonly needed: number;
	/** Some of those that are not ready. */
	readonly missing: readonly string[];
}

export interface IncidentStatus {
	/** The round that it ended. */
	readonly round: number;
	readonly at: number | null;
	readonly reason: string;
	readonly root: FailureRecord;
}

export interface NodeStatus {
	readonly nodeId: string;
	/** Its part in the newest round; `refused`: its own budget is spent. */
	readonly part: "member" | "spare" | "refused";
	/** `gone`: a member whose agent is not there. */
	readonly state: NodeState | "gone";
	readonly since: number | null;
	readonly role: string;
	readonly groupRank: number | null;
	/** First and last of its global ranks. */
	readonly ranks: readonly [number, number] | null;
	/** The agent's process, and where it is; null of one that is gone. */
	readonly pid: number | null;
	readonly address: string | null;
	readonly hostId: string | null;
	/** Its workers by local rank; null: not started. */
	readonly workerPids: readonly (number | null)[];
	/** Why it leaves, or has left its round before anybody else. */
	readonly cause: string | null;
	/** Its own budget, or that of its worker with the least left; null where the run's settings are not known. */
	readonly restarts: RestartBudget | null;
}

export function budgetOf(allowed: number, used: number): RestartBudget {
	return { allowed, used, left: Math.max(0, allowed - used) };
}
