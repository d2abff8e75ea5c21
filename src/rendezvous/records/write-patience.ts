import type { NodeRecord, RoundRecord } from "./records.js";

/** How long an agent may end its workers before it says so, in milliseconds: usually it is ready by then. */
const STOPPING_MS = 200;
/** How long an agent may run before it says so, per seat of its round, in milliseconds. */
const RUNNING_MS_A_SEAT = 0.2;

type Said = Pick<NodeRecord, "state" | "failure" | "notice">;

/**
 * How long what an agent would say may wait, in milliseconds. All agents know that a round is left, and none waits for the
 * news that one more agent ends its workers or has started them. In a large job such writes would delay the others'.
 */
export function writePatienceMs(
	intent: Said,
	written: Said,
	round: RoundRecord,
): number {
	if (intent.failure !== written.failure) return 0;
	if (intent.notice !== written.notice) return 0;
	if (intent.state === "stopping") {
		return round.deprecated >= round.synced ? STOPPING_MS : 0;
	}
	return intent.state === "running"
		? Math.floor(round.seats * RUNNING_MS_A_SEAT)
		: 0;
}
