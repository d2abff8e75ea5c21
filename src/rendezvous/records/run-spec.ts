/** `spec`: what all agents of a run must agree on. Times are in milliseconds. */
export interface RunSpec {
	readonly version: 1;
	readonly minNodes: number;
	readonly maxNodes: number;
	readonly policy: string;
	/** Finished nodes stay finished when a round is left: they count towards MIN and get no seat. */
	readonly finishedStay?: boolean;
	/** The run's store is private to this agent: no other node can come, so the run's budget is spent with this node's. */
	readonly isAlone?: boolean;
	/** Only the role of a failure restarts; absent: all roles. */
	readonly failoverScope?: "role";
	/** The run succeeds when these roles have: names with commas between them. Absent: when all have. */
	readonly driverRoles?: string;
	readonly maxRestarts: number;
	/** So many same failures in a row end the run; 0 or absent: they do not. */
	readonly maxIdenticalFailures?: number;
	/** Only what was charged in so many milliseconds counts; 0 or absent: all. */
	readonly restartWindowMs?: number;
	/** Failures on one node, after which it is replaced; absent: no limit. */
	readonly maxNodeRestarts?: number;
	readonly nodeWindowMs?: number;
	/** Failures of one role, after which the run fails; absent: no limit. */
	readonly maxRoleRestarts?: number;
	readonly roleWindowMs?: number;
	/** Least and longest wait before a restart while nothing makes progress; the longest 0 or absent: none. */
	readonly restartDelayMs?: number;
	readonly restartDelayMaxMs?: number;
	readonly joinTimeoutMs: number;
	readonly lastCallTimeoutMs: number;
	readonly settleTimeoutMs: number;
	/** A node counts as lost this long after its last keepalive. */
	readonly leaseTtlMs: number;
	/** How long the run may take from its start, waiting included; absent: as long as it wants. */
	readonly deadlineMs?: number;
}
