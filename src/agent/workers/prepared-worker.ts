import type { WorkerInfo } from "../../channel/events.js";
import type {
	OutgoingEvent,
	OutgoingNotice,
} from "../../channel/worker-channel.js";
import type { RaisedException } from "../../failures/exception.js";
import type { WorkerLogs } from "../../logs/worker-logs.js";
import type { WorkerSpec } from "../../processes/index.js";
import type { WorkerError } from "../../status/report.js";

/** One worker with everything that it needs on disk. */
export interface PreparedWorker {
	readonly spec: WorkerSpec;
	/** Its channel directory. */
	readonly directory: string;
	/** Writes an event to its channel. Throws if the disk refuses it. */
	tell(event: OutgoingEvent): void;
	/** The same for a notice. Returns its sequence. */
	notify(notice: OutgoingNotice): number;
	/** Wakes it to read its events. */
	ring(): void;
	/** Call it when the worker has another place in the world. */
	moved(info: WorkerInfo): void;
	/** Call it after the spawn, also a failed one: closes what was opened only for it. */
	release(): void;
	/** Reads its replies now. */
	hear(): void;
	/** Where its output goes. */
	readonly logs: Pick<WorkerLogs, "directory" | "stdout" | "stderr">;
	/** Its own description of its failure. */
	readError(): WorkerError | undefined;
	/** The uncaught exception that its hook tells. */
	readException(): RaisedException | undefined;
	/** The last lines of its stderr, long enough for a stack; empty if it was not redirected. */
	readLastLines(): readonly string[];
	/** Call it when none of its processes is left. */
	discard(): void;
}
