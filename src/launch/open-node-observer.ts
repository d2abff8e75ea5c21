import type { AgentObserver } from "../agent/agent-observer.js";
import { OwnNode } from "../agent/presence/own-node.js";
import type { LauncherIo } from "../agent/workers/node-resources.js";
import type { AgentConfig } from "../config/agent-config.js";
import type { ProbedNode, ProbePlace } from "../http/open-probe.js";
import type { Leave } from "../http/routes.js";
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
	if (probe !== undefined) return observeByProbe(probe, place);
	if (http === undefined) return undefined;
	const { openObserver } = await import("../http/open-observer.js");
	const own = new OwnNode(place.clock);
	const node = () => own.now();
	const observer = await openObserver({ ...place, config, http, leave, node });
	return {
		joined: (run, { channels }) => observer.joined(run, channels.directory),
		noting: (logs) => observer.noting(logs),
		follow: (state) => {
			own.follow(state);
			if (state.phase === "CLOSED") observer.close();
		},
		hung: (kind) => observer.hung(kind),
	};
}

async function observeByProbe(
	probe: ProbePlace,
	place: LauncherIo,
): Promise<AgentObserver> {
	let node: ProbedNode | undefined;
	const { openProbe } = await import("../http/open-probe.js");
	await openProbe(probe, place, () => node);
	return {
		joined: () => {},
		noting: (logs) => logs,
		follow: (state) => {
			node = state;
		},
		hung: () => {},
	};
}
