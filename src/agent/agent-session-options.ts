import type { Links } from "../links/index.js";
import type { Membership } from "../rendezvous/index.js";
import type { Store } from "../store/index.js";
import type { AgentObserver } from "./agent-observer.js";
import type { NodeConfig } from "./joining/enter-run.js";
import type { AgentInput } from "./machine/inputs.js";
import type { Ending } from "./machine/state.js";
import type { LauncherIo } from "./workers/node-resources.js";
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
