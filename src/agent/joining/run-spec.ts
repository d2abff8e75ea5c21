import type { AgentConfig } from "../../config/index.js";
import {
	RECORD_VERSION,
	type RoleTerms,
	type RunSpec,
} from "../../rendezvous/index.js";

/** Without a limit or a window there is no field, as with agents of an older version. */
function restartLimits({
	restartLimits: { windowMs, node, preemptions },
}: AgentConfig): Partial<RunSpec> {
	return {
		...(windowMs > 0 && { restartWindowMs: windowMs }),
		...(node && { maxNodeRestarts: node.restarts }),
		...(node?.windowMs && { nodeWindowMs: node.windowMs }),
		...(preemptions && { maxPreemptions: preemptions.restarts }),
		...(preemptions?.windowMs && { preemptionWindowMs: preemptions.windowMs }),
	};
}

/** What an agent asks for its role; undefined: nothing. */
export function roleTerms({
	failoverScope,
	restartLimits: { role },
}: Pick<AgentConfig, "failoverScope" | "restartLimits">):
	| RoleTerms
	| undefined {
	if (failoverScope === "run" && role === undefined) return undefined;
	return {
		restartsAlone: failoverScope === "role",
		...(role && { maxRestarts: role.restarts }),
		...(role?.windowMs && { windowMs: role.windowMs }),
	};
}

/** The part of an agent's configuration on which all agents of a run must agree. */
export function runSpec(config: AgentConfig): RunSpec {
	const { rendezvous } = config;
	return {
		version: RECORD_VERSION,
		minNodes: config.minNodes,
		maxNodes: config.maxNodes,
		policy: config.policyId,
		...(config.policy.finishedNodes === "stay" && { finishedStay: true }),
		...(config.backend === "memory" && { isAlone: true }),
		...(config.driverRoles.length > 0 && {
			driverRoles: config.driverRoles.join(","),
		}),
		maxRestarts: config.maxRestarts,
		maxIdenticalFailures: config.maxIdenticalFailures,
		restartDelayMs: config.restartDelay.leastMs,
		restartDelayMaxMs: config.restartDelay.mostMs,
		...restartLimits(config),
		joinTimeoutMs: rendezvous.joinTimeoutMs,
		lastCallTimeoutMs: rendezvous.lastCallTimeoutMs,
		settleTimeoutMs: rendezvous.settleTimeoutMs,
		leaseTtlMs: rendezvous.leaseTtlMs,
		...(config.rideOutMs > 0 && { rideOutMs: config.rideOutMs }),
		...(config.deadlineMs !== undefined && { deadlineMs: config.deadlineMs }),
	};
}
