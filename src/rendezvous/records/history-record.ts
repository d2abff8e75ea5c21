import {
	fields,
	type Infer,
	list,
	nullable,
	optional,
} from "../../base/shape.js";
import {
	count,
	duration,
	instance,
	name,
	round,
	time,
	version,
	words,
} from "../../model/index.js";
import { cause, result } from "./records.js";

/** How many lines of a run's history are kept: the newest. */
export const KEPT_ROUNDS = 200;

/**
 * `history/<round>`: one line of the run's history, written when the round's barrier lifts and completed when the round
 * is left. Times are milliseconds since 1970 by the coordinator's clock, unless stated otherwise.
 */
export type HistoryRecord = Infer<typeof HISTORY>;

export const HISTORY = fields({
	version,
	instance,
	round,
	/** Why the round began: the end of the previous one. */
	cause,
	/** The instance's incidents before this round. */
	incidents: count,
	worldSize: count,
	/** Node ids in the order of their group ranks. */
	members: list(name),
	/** Members that the previous round did not have, and those of it that are gone. */
	joined: list(name),
	left: list(name),
	/** When the end of the previous round was seen, or when the instance began if this is its first round. Null if unknown. */
	begunAt: nullable(time),
	/** When the last member that stayed had ended its workers, by the nodes' own clocks; null if none stayed. */
	stoppedAt: nullable(time),
	/** When the last member was seen to be ready. */
	readyAt: time,
	liftedAt: time,
	/** When all members were seen to run; null if they were not before the round was left. */
	startedAt: nullable(time),
	/** When its end was seen; null while it runs. */
	endedAt: nullable(time),
	/** How long before that its first sign was: see `RoundCause`. Until then all members ran. */
	noticedAfterMs: optional(duration),
	/** Why it ended, in words; null while it runs. */
	ending: nullable(words),
	/** The run's outcome, if the run ended with this round; else null. */
	outcome: nullable(result),
});

/** The usual difference between the clocks of nodes, in milliseconds. */
const SKEW_MS = 1_000;

/** Whether two nodes' clocks agree, within the usual difference, that one event came before the other. */
export function isInOrder(
	earlier: number | null,
	later: number | null,
): boolean {
	return earlier === null || later === null || earlier - later <= SKEW_MS;
}
