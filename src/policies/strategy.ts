/** What happens to this agent's workers. */
export type WorkersAction =
	/** Stop them all and start them anew in the next round. */
	| "restart"
	/** Keep their processes: PAUSE now, WORK in the next round. */
	| "pause"
	/** Replace the failed worker only; the others pause. */
	| "replace-failed"
	/** Stop them all; this node leaves the run, which goes on elsewhere (exit 75). */
	| "leave"
	/** Stop them all; the run fails, whatever budget is left. */
	| "fail-run";

/** Whose budget pays for the incident. */
export type Charge = "run" | "node" | "worker" | "nothing";

/** What a policy decides; it carries nothing out. */
export interface RestartDecision {
	readonly workers: WorkersAction;
	readonly charge: Charge;
	/** In words, for the log and the report. */
	readonly reason: string;
}

/** What a policy may look at. Counts are those of the run's shared state. */
export interface PolicyContext {
	readonly runId: string;
	readonly nodeId: string;
	readonly round: number;
	/** What the run, this node, or a worker (by policy) may be charged: `--max-restarts`. */
	readonly maxRestarts: number;
	/** Incidents that the run's budget has been charged so far. */
	readonly charged: number;
	/** Why the membership changes, in words. */
	readonly cause: string;
}

/** What a policy may look at when one of this agent's own workers failed. */
export interface WorkerFailureContext extends PolicyContext {
	readonly rank: number;
	readonly localRank: number;
	readonly role: string;
	/** The exit code; of a worker that died of signal n, 128 + n. */
	readonly exitCode: number;
	/** The signal that ended it, or null. */
	readonly signal: string | null;
	/** How long the worker had been up, in milliseconds. */
	readonly uptimeMs: number;
	/** The message of its error file, where it left one. */
	readonly errorMessage: string | undefined;
}

/** What an agent does with its own workers: one class is one row of the table in README. */
export interface RestartPolicyStrategy {
	readonly name: string;
	/**
	 * What becomes of nodes whose workers have all succeeded when a round is left
	 * after that: they take part again, with fresh workers (unless given), or they
	 * stay finished, count towards MIN and get no seat.
	 */
	readonly finishedNodes?: "rejoin" | "stay";
	/** New nodes are to be let in. */
	onScaleUp(context: PolicyContext): RestartDecision;
	/** A node failed, left or vanished. */
	onScaleDown(context: PolicyContext): RestartDecision;
	/** A worker of this very agent failed. */
	onWorkerFailure(context: WorkerFailureContext): RestartDecision;
}
