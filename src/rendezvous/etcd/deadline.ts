import type { Clock } from "../../clock.js";

/** A timer that rings later than this, in milliseconds, says that the process was busy or frozen. */
const LATE_MS = 50;
/** How long what came in meanwhile may then take to be read. */
const GRACE_MS = 100;

/**
 * Calls `missed` when what was expected by `at` has not come. Timers ring before
 * sockets are read: where the process itself was late, the answer may lie there,
 * and is waited for a little longer. Returns a function that cancels it.
 */
export function expectBy(
	clock: Clock,
	at: number,
	missed: () => void,
): () => void {
	let cancel = clock.wakeAt(at, () => {
		const now = clock.now();
		if (now - at <= LATE_MS) missed();
		else cancel = clock.wakeAt(now + GRACE_MS, missed);
	});
	return () => cancel();
}
