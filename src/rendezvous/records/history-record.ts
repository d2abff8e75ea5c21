import type { Outcome, RoundCause } from "./records.js";

/** How many lines of a run's history are kept: the newest. */
export const KEPT_ROUNDS = 200;

/**
 * `history/<round>`: one line of the run's history, written when the round's barrier lifts and completed when the round
 * is left. Times are milliseconds since 1970 by the coordinator's clock, unless stated otherwise.
 */
export interface HistoryRecord {
	readonly version: 1;
	readonly instance: number;
	readonly round: number;
	/** Why the round began: the end of the previous one. */
	readonly cause: RoundCause;
	/** The instance's incidents before this round. */
	readonly incidents: number;
	readonly worldSize: number;
	/** Node ids in the order of their group ranks. */
	readonly members: readonly string[];
	/** Members that the previous round did not have, and those of it that are gone. */
	readonly joined: readonly string[];
	readonly left: readonly string[];
	/** When the end of the previous round was seen, or when the instance began if this is its first round. Null if unknown. */
	readonly begunAt: number | null;
	/** When the last member that stayed had ended its workers, by the nodes' own clocks; null if none stayed. */
	readonly stoppedAt: number | null;
	/** When the last member was seen to be ready. */
	readonly readyAt: number;
	/** When its barrier was lifted. */
	readonly liftedAt: number;
	/** When all members were seen to run; null if they were not before the round was left. */
	readonly startedAt: number | null;
	/** When its end was seen; null while it runs. */
	readonly endedAt: number | null;
	/** How long before that its first sign was: see `RoundCause`. Until then all members ran. */
	readonly noticedAfterMs?: number | undefined;
	/** Why it ended, in words; null while it runs. */
	readonly ending: string | null;
	/** The run's outcome, if the run ended with this round; else null. */
	readonly outcome: Outcome["result"] | null;
}
