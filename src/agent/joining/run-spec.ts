import type { AgentConfig } from "../../config/agent-config.js";
import {
	RECORD_VERSION,
	type RunSpec,
} from "../../rendezvous/records/records.js";

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
		...(config.recreatesWith !== undefined && { isRecreated: true }),
		...(config.failoverScope === "role" && { failoverScope: "role" }),
		...(config.driverRoles.length > 0 && {
			driverRoles: config.driverRoles.join(","),
		}),
		maxRestarts: config.maxRestarts,
		maxIdenticalFailures: config.maxIdenticalFailures,
		joinTimeoutMs: rendezvous.joinTimeoutMs,
		lastCallTimeoutMs: rendezvous.lastCallTimeoutMs,
		settleTimeoutMs: rendezvous.settleTimeoutMs,
		leaseTtlMs: rendezvous.leaseTtlMs,
		...(config.deadlineMs !== undefined && { deadlineMs: config.deadlineMs }),
	};
}
