import type { AgentConfig } from "./agent-config.js";
import type { Host } from "./host.js";
import { deriveLocalAddress, deriveNodeId, deriveRunId } from "./identity.js";
import { OPTIONS } from "./options.js";
import type { SettingReader } from "./settings.js";

/** Names and address, as given or derived. */
export function resolveIdentity(
	reader: SettingReader,
	request: {
		readonly script: string | undefined;
		readonly args: readonly string[];
		readonly environment: Readonly<Record<string, string | undefined>>;
	},
	nodes: Pick<AgentConfig, "minNodes" | "maxNodes">,
	host: Host,
): Pick<AgentConfig, "runId" | "nodeId" | "localAddr"> {
	const { SLURM_JOB_ID } = request.environment;
	return {
		runId:
			reader.given(OPTIONS.runId) ??
			deriveRunId({
				slurmJobId: SLURM_JOB_ID,
				script: request.script ?? "",
				args: request.args,
				nnodes: { min: nodes.minNodes, max: nodes.maxNodes },
				userName: host.userName,
			}),
		nodeId: reader.given(OPTIONS.nodeId) ?? deriveNodeId(host.hostName),
		localAddr:
			reader.given(OPTIONS.localAddr) ??
			deriveLocalAddress(nodes.maxNodes, host.addresses),
	};
}
