import type { WorkerLogs } from "../../logs/index.js";
import type { WorkerHandle } from "../../processes/index.js";

/** What is left of one worker's output. */
export interface WorkerWords {
	/** Its log directory, the same since its start. */
	readonly directory: string;
	/** The path of its stderr; undefined if that is not a file. */
	readonly logFile: string | undefined;
	/** The last lines of its stderr, if that file had been removed or renamed when the worker ended. */
	readonly lostLines: readonly string[] | undefined;
}

/** One worker process, as others see it. */
export interface WorkerProcess {
	readonly localRank: number;
	readonly rank: number;
	readonly pid: number;
	/** Its channel directory; no two processes have the same. */
	readonly directory: string;
	readonly logs:
		| Pick<WorkerLogs, "directory" | "stdout" | "stderr">
		| undefined;
	/** When it was spawned, on the agent's clock; undefined: it is not known. */
	readonly startedAt?: number | undefined;
	/** Default: cold. */
	readonly start?: WorkerHandle["start"];
}
