import { fields, flag, type Infer, oneOf, optional } from "../../base/shape.js";
import {
	count,
	duration,
	positive,
	version,
	words,
} from "../../model/value.js";

/** `spec`: what all agents of a run must agree on. Times are in milliseconds. */
export type RunSpec = Infer<typeof SPEC>;

export const SPEC = fields(
	{
		version,
		minNodes: positive,
		maxNodes: positive,
		policy: words,
		/** Finished nodes stay finished when a round is left: they count towards MIN and get no seat. */
		finishedStay: optional(flag),
		/** The run's store is private to this agent: no other node can come, so the run's budget is spent with this node's. */
		isAlone: optional(flag),
		/** Only the role of a failure restarts; absent: all roles. */
		failoverScope: optional(oneOf("role")),
		/** The run succeeds when these roles have: names with commas between them. Absent: when all have. */
		driverRoles: optional(words),
		maxRestarts: count,
		/** So many same failures in a row end the run; 0 or absent: they do not. */
		maxIdenticalFailures: optional(count),
		/** Only what was charged in so many milliseconds counts; 0 or absent: all. */
		restartWindowMs: optional(duration),
		/** Failures on one node, after which it is replaced; absent: no limit. */
		maxNodeRestarts: optional(count),
		nodeWindowMs: optional(duration),
		/** Failures of one role, after which the run fails; absent: no limit. */
		maxRoleRestarts: optional(count),
		roleWindowMs: optional(duration),
		/** Least and longest wait before a restart while nothing makes progress; the longest 0 or absent: none. */
		restartDelayMs: optional(duration),
		restartDelayMaxMs: optional(duration),
		joinTimeoutMs: duration,
		lastCallTimeoutMs: duration,
		settleTimeoutMs: duration,
		/** A node counts as lost this long after its last keepalive. */
		leaseTtlMs: duration,
		/** How long the run may take from its start, waiting included; absent: as long as it wants. */
		deadlineMs: optional(duration),
	},
	({ minNodes, maxNodes }) =>
		minNodes <= maxNodes
			? undefined
			: { field: "minNodes", allowed: `at most maxNodes (${maxNodes})` },
);
