import type { Clock } from "../../base/clock.js";
import type { AgentConfig } from "../../config/agent-config.js";
import type { Hang, HangKind } from "../../model/hang.js";
import type { Straggler } from "../../model/step.js";
import type { Standstill } from "../../progress/hang-rule.js";
import type {
	ProgressRecord,
	WorkerProgress,
} from "../../rendezvous/records/progress-record.js";
import type { Running } from "../machine/state.js";
import type { WorkerProcess } from "../workers/worker-process.js";
import type { RoundLedger } from "./round-ledger.js";
import type { StepRoom } from "./step-room.js";

/** A node that stands still. */
export type Still = Exclude<Standstill, { readonly kind: "fine" }>;

/** What was found out about a node that stands still. */
export interface Inquired {
	/** Undefined: it was no hang. */
	readonly hang: Hang | undefined;
	/** When to judge again, on the clock; undefined: only after a worker makes a step. */
	readonly again: number | undefined;
}

export interface StepWatchOptions {
	readonly clock: Clock;
	readonly config: Pick<AgentConfig, "steps" | "nodeId">;
	/** The present worker processes. */
	readonly processes: () => readonly WorkerProcess[];
	/** Passes on now what the present workers have reported and nobody has read. */
	readonly readReports: () => void;
	/** Publishes how far the workers have come; called at most once in two seconds. */
	readonly publish: (record: ProgressRecord) => void;
	/** Called once a second while a round runs: the straggler of the run, if this node is the one that looks for it. */
	readonly straggler: (state: Running) => Straggler | undefined;
	/** Counts what the time is spent on. */
	readonly ledger: Pick<RoundLedger, "follow" | "stepped" | "announced">;
	/** Whether steps could be seen at all. */
	readonly room: Pick<StepRoom, "look" | "lostUntil">;
	/** Called when the workers stand still. */
	readonly onStill: (
		still: Still,
		state: Running,
		progress: readonly WorkerProgress[],
		/** Whether one has moved since or is busy, or the round is over: evidence takes seconds. */
		news: () => "moved" | "over" | undefined,
	) => Promise<Inquired>;
	/** Called once a second while a round runs. */
	readonly onLook: (
		workers: readonly WorkerProgress[],
		straggler: Straggler | undefined,
	) => void;
	/** Called once for each hang. */
	readonly onHang: (kind: HangKind) => void;
}
