import type { Departure } from "./intent.js";
import type { RoundRecord, Seat } from "./records.js";
import type { WaitingRecord } from "./waiting-record.js";

/** An agent's view of its run: the round and this process's seat, if it has one. */
export interface RoundView {
	readonly round: RoundRecord;
	readonly seat: Seat | null;
	/** What the coordinator last said it waits for, if anything. */
	readonly waiting?: WaitingRecord | undefined;
	/** The plan that the store knows this process to have finished. */
	readonly finishedPlan?: string | null;
	/** What the store knows to follow when this process has left. */
	readonly departure?: Departure | undefined;
	/** The start of the run that this process has joined. */
	readonly joined?: number | undefined;
}
