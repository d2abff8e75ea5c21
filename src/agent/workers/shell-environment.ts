import type { AgentConfig } from "../../config/agent-config.js";

const OWN_PREFIX = "ELASTIC_RUN_";

/** The environment of a command of the user's that the agent runs: its own, without the launcher's settings and secrets. */
export function shellEnvironment({
	environment,
	runId,
	nodeId,
	role,
	localAddr,
}: Pick<
	AgentConfig,
	"environment" | "runId" | "nodeId" | "role" | "localAddr"
>): Readonly<Record<string, string | undefined>> {
	const inherited = Object.entries(environment).filter(
		([name]) => !name.startsWith(OWN_PREFIX),
	);
	return {
		...Object.fromEntries(inherited),
		ELASTIC_RUN_RUN_ID: runId,
		ELASTIC_RUN_NODE_ID: nodeId,
		ELASTIC_RUN_ROLE: role,
		...(localAddr !== undefined && { ELASTIC_RUN_LOCAL_ADDR: localAddr }),
	};
}
