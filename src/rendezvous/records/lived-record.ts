import { fields, type Infer } from "../../base/shape.js";
import { duration, instance, time, version } from "../../model/index.js";

/**
 * `lived`: how long this start of the run has lived, by the steady clocks of its coordinators. Each adds its part, so that
 * nothing depends on a wall clock that somebody sets, or on the clocks of two machines.
 */
export type LivedRecord = Infer<typeof LIVED>;

export const LIVED = fields({
	version,
	instance,
	livedMs: duration,
	/** When it was written, in milliseconds since 1970 by the writer's clock; only informs people. */
	at: time,
});

/** The run's time for people, given the reader's: see `RunTime` of the planner. */
export function runTimeBy(
	lived: LivedRecord | undefined,
	instance: number,
	wallTime: number,
): number {
	return lived?.instance === instance
		? instance + lived.livedMs + wallTime - lived.at
		: wallTime;
}
