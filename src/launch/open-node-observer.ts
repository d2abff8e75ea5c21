import type { AgentObserver } from "../agent/agent-observer.js";
import type { LauncherIo } from "../agent/workers/node-resources.js";
import type { AgentConfig } from "../config/agent-config.js";
import type { Leave } from "../http/control.js";
import type { ProbePlace } from "../http/open-probe.js";
import type { WorkerSpawner } from "../processes/index.js";

/** The parts of a node whose work is done elsewhere: `elastic-run barrier`. */
export interface BarrierParts {
	/** Takes the place of the workers' processes. */
	readonly spawner: WorkerSpawner;
	/** Where the start-up probe asks. */
	readonly probe: ProbePlace;
}

/** Opens what others can observe this node by, if that is wanted. Each part is loaded only then. */
export async function openNodeObserver(
	config: AgentConfig,
	place: LauncherIo,
	probe: ProbePlace | undefined,
	leave: Leave,
): Promise<AgentObserver | undefined> {
	const { http } = config;
	if (probe !== undefined) {
		const { openProbe } = await import("../http/open-probe.js");
		return openProbe(probe, place);
	}
	if (http === undefined) return undefined;
	const { openObserver } = await import("../http/open-observer.js");
	return openObserver({ ...place, config, http, leave });
}
