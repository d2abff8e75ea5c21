import { onBeat } from "../../base/clock.js";

/** How often the sources of steps are read, in milliseconds, once a worker makes steps … */
export const LOOK_EVERY_MS = 1_000;
/** … and before: after this part of the round's time, so that the time of the first step is off by no more. */
const PAUSE_PER_TIME = 1 / 20;
const LONGEST_PAUSE_MS = 5_000;

/**
 * @param since since when a first step is waited for
 * @param stillFrom when the workers stand still unless a step comes: this moment is not missed
 */
export function nextLook(now: number, since = now, stillFrom = 0): number {
	const partMs = Math.min((now - since) * PAUSE_PER_TIME, LONGEST_PAUSE_MS);
	const pauseMs = Math.max(LOOK_EVERY_MS, partMs);
	const usual = onBeat(now + pauseMs, pauseMs);
	return stillFrom > now ? Math.min(stillFrom, usual) : usual;
}
