import { fields, flag, oneOf, optional } from "../../base/shape.js";
import { count, duration, positive, version, words } from "./record-parts.js";
import type { RunSpec } from "./run-spec.js";

export const SPEC = fields<RunSpec>(
	{
		version,
		minNodes: positive,
		maxNodes: positive,
		policy: words,
		finishedStay: optional(flag),
		isAlone: optional(flag),
		failoverScope: optional(oneOf("role")),
		driverRoles: optional(words),
		maxRestarts: count,
		maxIdenticalFailures: optional(count),
		restartWindowMs: optional(duration),
		maxNodeRestarts: optional(count),
		nodeWindowMs: optional(duration),
		maxRoleRestarts: optional(count),
		roleWindowMs: optional(duration),
		restartDelayMs: optional(duration),
		restartDelayMaxMs: optional(duration),
		joinTimeoutMs: duration,
		lastCallTimeoutMs: duration,
		settleTimeoutMs: duration,
		leaseTtlMs: duration,
		deadlineMs: optional(duration),
	},
	({ minNodes, maxNodes }) =>
		minNodes <= maxNodes
			? undefined
			: { field: "minNodes", allowed: `at most maxNodes (${maxNodes})` },
);
