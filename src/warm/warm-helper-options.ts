import type { Clock } from "../base/clock.js";
import type { GroupRegistry, WorkerSpec } from "../processes/index.js";
import type { ToImport } from "./learned-modules.js";
import type { LeftOut } from "./left-out.js";
import type { Ready } from "./warm-messages.js";

export interface WarmHelperOptions {
	readonly clock: Clock;
	readonly setpriv: string;
	readonly registry: GroupRegistry;
	/** A worker like those that it will start. */
	readonly spec: WorkerSpec;
	readonly toImport: ToImport;
	readonly leftOut: LeftOut;
	/** A process waits for its start. */
	readonly onParked: () => void;
	/** It can start workers. */
	readonly onReady: (news: Ready) => void;
	/** Once: it cannot start workers, or no more of them. `but`: it could without these modules. */
	readonly onRefused: (reason: string, but?: LeftOut) => void;
}
