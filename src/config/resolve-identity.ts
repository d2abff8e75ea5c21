import type { AgentConfig } from "./agent-config.js";
import type { Host } from "./host.js";
import { deriveNodeId, deriveRunId, LOOPBACK } from "./identity.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

type IdentityPart = Pick<
	AgentConfig,
	| "runId"
	| "isRunIdDerived"
	| "isRunIdGiven"
	| "nodeId"
	| "isNodeIdDerived"
	| "localAddr"
>;

/** Names and address, given or derived. */
export function resolveIdentity(
	reader: SettingReader,
	request: {
		readonly script: string | undefined;
		readonly args: readonly string[];
		readonly environment: Readonly<Record<string, string | undefined>>;
	},
	nodes: Pick<AgentConfig, "minNodes" | "maxNodes" | "meeting">,
	host: Host,
): IdentityPart {
	const { SLURM_JOB_ID, SLURM_STEP_ID, SLURM_STEPID } = request.environment;
	const runId = reader.given(OPTIONS.runId);
	const nodeId = reader.given(OPTIONS.nodeId);
	return {
		runId:
			runId ??
			deriveRunId({
				slurmJobId: SLURM_JOB_ID,
				slurmStepId: SLURM_STEP_ID || SLURM_STEPID,
				script: request.script ?? "",
				// An endpoint of their own brings nodes together: what they do may differ, for example by their ranks.
				args: nodes.meeting ? [] : request.args,
				nnodes: { min: nodes.minNodes, max: nodes.maxNodes },
				userName: host.userName,
			}),
		isRunIdGiven: runId !== undefined,
		isRunIdDerived: runId === undefined && !SLURM_JOB_ID,
		nodeId: nodeId ?? deriveNodeId(host.hostName),
		isNodeIdDerived: nodeId === undefined,
		localAddr:
			reader.given(OPTIONS.localAddr) ??
			// With one node no other node needs to reach it.
			(nodes.maxNodes === 1 ? LOOPBACK : undefined),
	};
}
