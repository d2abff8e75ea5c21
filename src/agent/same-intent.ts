import type { Intent } from "../rendezvous/record-writer.js";

/** Whether there is nothing to write, but for the time since when it holds. */
export function isSameIntent(
	left: Omit<Intent, "since"> | null,
	right: Intent | null,
): boolean {
	if (left === null || right === null) return left === right;
	return (
		left.state === right.state &&
		left.claim === right.claim &&
		left.failure === right.failure &&
		left.fencedIn === right.fencedIn &&
		left.cause === right.cause &&
		left.awaitsWorkersMs === right.awaitsWorkersMs &&
		left.finishedPlan === right.finishedPlan &&
		String(left.pids) === String(right.pids)
	);
}
