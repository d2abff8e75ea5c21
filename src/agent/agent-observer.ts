import type { Cleanups } from "../base/cleanups.js";
import type { AgentConfig } from "../config/index.js";
import type { LogDirectory } from "../logs/index.js";
import type { HangKind } from "../model/index.js";
import type { Store } from "../store/index.js";
import type { AgentState } from "./machine/state.js";
import type { NodeResources } from "./workers/node-resources.js";

/** A run that an agent takes part in. */
export interface JoinedRun {
	readonly config: Pick<
		AgentConfig,
		"runId" | "nodeId" | "backend" | "endpoints"
	>;
	readonly store: Store;
	readonly place: { readonly cleanups: Cleanups };
}

/** Receives an agent's reports. An observer never throws and never delays the agent. */
export interface AgentObserver {
	/** Called when the agent has joined this run. */
	joined(run: JoinedRun, resources: Pick<NodeResources, "channels">): void;
	/** Returns a log directory that replaces `logs` and also records the workers' lines. */
	noting(logs: LogDirectory): LogDirectory;
	/** Receives the agent's new state. */
	readonly follow: (state: AgentState) => void;
	/** Called once for each hang of this node's workers. */
	hung(kind: HangKind): void;
}
