import type { RoundRecord, Seat } from "./records.js";
import type { WaitingRecord } from "./waiting.js";

/** What an agent sees of its run: the round and, where it is this process's, its seat. */
export interface RoundView {
	readonly round: RoundRecord;
	readonly seat: Seat | null;
	/** What the coordinator said last that it waits for, if it had to. */
	readonly waiting?: WaitingRecord | undefined;
	/** The plan of which the store knows from this process that it has done its part. */
	readonly finishedPlan?: string | null;
	/** The start of the run that this process has joined. */
	readonly joined?: number | undefined;
}
