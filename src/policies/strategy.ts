/** What happens to this agent's workers. */
export type WorkersAction =
	/** Stop them all and restart them in the next round. */
	| "restart"
	/** Keep their processes: PAUSE now, WORK in the next round. */
	| "pause"
	/** Replace the failed worker only; the others pause. */
	| "replace-failed"
	/**
	 * Record the failure, and go on without this worker; charges nothing. The node has finished when all its workers have
	 * ended. One of them must succeed: if none can any more, or the process has not ended by itself, this is
	 * `replace-failed`, charged to the run.
	 */
	| "ignore"
	/** Stop them all; this node leaves the run, which continues elsewhere (exit 75). */
	| "leave"
	/** Stop them all; the run fails, whatever budget is left. */
	| "fail-run";

/** The budget that is charged for the incident. */
export type Charge = "run" | "node" | "worker" | "nothing";

/** A policy's decision. The agent carries it out. */
export interface RestartDecision {
	readonly workers: WorkersAction;
	readonly charge: Charge;
	/** In words, for the log and the report. */
	readonly reason: string;
}

/** What a policy's decision may depend on. The counts are those of the run's shared state. */
export interface PolicyContext {
	readonly runId: string;
	readonly nodeId: string;
	readonly round: number;
	/** The budget of the run, this node, or a worker (depending on the policy): `--max-restarts`. */
	readonly maxRestarts: number;
	/** Incidents charged to the run's budget so far. */
	readonly charged: number;
	/** Why the membership changes, in words. */
	readonly cause: string;
}

/** What the decision about a failed worker of this agent may depend on. */
export interface WorkerFailureContext extends PolicyContext {
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	/** The exit code; 128 + n for a worker killed by signal n. */
	readonly exitCode: number;
	/** The signal that ended it, or null. */
	readonly signal: string | null;
	/** How long the worker had been up, in milliseconds. */
	readonly uptimeMs: number;
	/** The message of its error file, if it wrote one. */
	readonly errorMessage: string | undefined;
}

/** What an agent does with its workers. Each class is a row of the table in README. */
export interface RestartPolicyStrategy {
	readonly name: string;
	/**
	 * What nodes do whose workers have all succeeded, when the round is left after that. `rejoin` (the default): they take
	 * part again with new workers. `stay`: they stay finished, count towards MIN and get no seat.
	 */
	readonly finishedNodes?: "rejoin" | "stay";
	/** New nodes can be admitted. */
	onScaleUp(context: PolicyContext): RestartDecision;
	/** A node failed, left or vanished. */
	onScaleDown(context: PolicyContext): RestartDecision;
	/** A worker of this agent failed. */
	onWorkerFailure(context: WorkerFailureContext): RestartDecision;
}
