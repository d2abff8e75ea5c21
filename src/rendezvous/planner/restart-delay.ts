import type { FailureId } from "../records/failure.js";
import type { NodeFailure, RoundRecord } from "../records/records.js";
import type { PlannerConfig } from "./plan.js";
import type { RoundProgress } from "./progress.js";
import { hasMoved } from "./progress.js";

/** Where doubling begins if no least delay is set, in milliseconds. */
const FIRST_MS = 250;
const MOST_DOUBLINGS = 30;

type Delays = Pick<
	PlannerConfig,
	"restartDelayMs" | "restartDelayMaxMs" | "settleTimeoutMs"
>;

/**
 * How many incidents in a row have ended a round in which nothing moved, with this one. A worker that somebody killed, or one
 * that waits for another round, does not show that a restart is in vain.
 */
export function fruitlessAfter(
	{ fruitless = 0 }: RoundRecord,
	root: NodeFailure,
	progress: RoundProgress,
	config: Delays,
): number {
	if (hasMoved(progress, root, config)) return 0;
	const { signal, fingerprint } = root.failure;
	const isKilled = signal !== null && fingerprint === undefined;
	return isKilled || root.isWish ? fruitless : fruitless + 1;
}

/**
 * How long to wait before the restart, in milliseconds: not at all at first, then twice as long each time, less a part that
 * spreads runs that failed together. It follows from the failure alone, so a new coordinator waits until the same time.
 */
export function restartDelayMs(
	fruitless: number,
	id: FailureId,
	{ restartDelayMs: least = 0, restartDelayMaxMs: most = 0 }: Delays,
): number {
	if (fruitless < 2 || most === 0) return 0;
	const doublings = Math.min(fruitless - 2, MOST_DOUBLINGS);
	const full = Math.min(most, Math.max(least, FIRST_MS) * 2 ** doublings);
	return Math.round(Math.max(least, full * (0.5 + spread(id) / 2)));
}

/** A number in [0, 1) that differs from one failure to the next. */
function spread(id: FailureId): number {
	let hash = 0x811c9dc5;
	for (let at = 0; at < id.length; at += 1) {
		hash = Math.imul(hash ^ id.charCodeAt(at), 0x01000193);
	}
	return (hash >>> 0) / 2 ** 32;
}
