/** `spec`: what all agents of a run must agree on. */
export interface RunSpec {
	readonly version: 1;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly policy: string;
	/** Finished nodes stay finished when a round is left. */
	readonly finishedStay?: boolean;
	/** The run's store is private to this agent: no other node can come. */
	readonly isAlone?: boolean;
	/** A failure restarts the workers of its role; absent: of all roles. */
	readonly failoverScope?: "role";
	/** The run succeeds when these roles have: names with commas between them. Absent: when all have. */
	readonly driverRoles?: string;
	readonly maxRestarts: number;
	/** So many same failures in a row end the run; 0 or absent: they do not. */
	readonly maxIdenticalFailures?: number;
	/** Windows in milliseconds; 0 or absent: none. Limits of a node and a role; absent: none. */
	readonly restartWindowMs?: number;
	readonly maxNodeRestarts?: number;
	readonly nodeWindowMs?: number;
	readonly maxRoleRestarts?: number;
	readonly roleWindowMs?: number;
	/** Least and longest wait before a restart while nothing makes progress; the longest 0 or absent: none. */
	readonly restartDelayMs?: number;
	readonly restartDelayMaxMs?: number;
	/** "soft,hard": see escalation.ts; absent: off. */
	readonly escalate?: string;
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	readonly leaseTtlMs: number;
	/** How long the run may take from its start, waiting included; absent: as long as it wants. */
	readonly deadlineMs?: number;
}
