import type { Intent, NewIntent } from "../../rendezvous/records/intent.js";

/** Whether two intents differ only in times that follow from the rest. */
export function isSameIntent(
	left: NewIntent | null,
	right: Intent | null,
): boolean {
	if (left === null || right === null) return left === right;
	return (
		left.state === right.state &&
		left.claim === right.claim &&
		left.failure === right.failure &&
		left.fencedIn === right.fencedIn &&
		left.cause === right.cause &&
		left.runsOn === right.runsOn &&
		left.awaitsWorkersMs === right.awaitsWorkersMs &&
		left.finishedPlan === right.finishedPlan &&
		left.notice === right.notice &&
		left.departure === right.departure &&
		String(left.pids) === String(right.pids)
	);
}
