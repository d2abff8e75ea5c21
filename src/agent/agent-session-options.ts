import type { Cleanups } from "../base/cleanups.js";
import type { AgentConfig } from "../config/index.js";
import type { Links } from "../links/index.js";
import type { LogDirectory } from "../logs/index.js";
import type { HangKind } from "../model/index.js";
import type { Membership } from "../rendezvous/index.js";
import type { Store } from "../store/index.js";
import type { NodeConfig } from "./joining/enter-run.js";
import type { AgentInput } from "./machine/inputs.js";
import type { AgentState, Ending } from "./machine/state.js";
import type { LauncherIo, NodeResources } from "./workers/node-resources.js";
import type { PortReservation } from "./workers/reserve-port.js";

export type StopRequest = AgentInput & { kind: "stop-asked" };

export interface AgentSessionOptions {
	readonly config: NodeConfig;
	readonly place: LauncherIo;
	readonly membership: Membership;
	readonly instance: number;
	/** When this agent came to the run, in milliseconds since 1970. */
	readonly arrivedAt: number;
	/** Names this process. */
	readonly incarnation: string;
	readonly ports: Pick<PortReservation, "prepare" | "release">;
	/** The run already knew this node. */
	readonly isReturning: boolean;
	/** The run's agents of this role began with another command. */
	readonly ranOtherCommand: boolean;
	readonly store: Store;
	/** Serves this agent's state over HTTP; undefined if there is no server. */
	readonly observer: AgentObserver | undefined;
	/** Its connections to the run's other agents; undefined if there are none. */
	readonly links: Pick<Links, "follow" | "guardBy"> | undefined;
	/** Opens the sources of notices, which then call `notice`. */
	readonly openNotices: () => void;
	/** Gives up this node's place in the run, so that no other node waits for its cleanup. */
	readonly leave: (ending: Ending) => Promise<void>;
}

/** A run that an agent takes part in. */
interface JoinedRun {
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
