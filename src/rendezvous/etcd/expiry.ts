import type { Clock } from "../../clock.js";

/** Both scales at one moment: the steady one stands still while a machine sleeps, the wall's can be set. */
export interface Moment {
	readonly now: number;
	readonly wallTime: number;
}

/** What the wall clock may gain by being adjusted, in milliseconds; what it gains beyond that is sleep. */
const ADJUSTMENT_MS = 500;

export function momentOf(clock: Clock): Moment {
	return { now: clock.now(), wallTime: clock.wallTime() };
}

/**
 * Until when a lease lives, on the steady scale, if its keepalive was sent then.
 * What the machine has slept since is taken off: the store was awake. A wall
 * clock that is set forward looks the same, and costs a lease's time only until
 * the next keepalive.
 */
export function expiryOf(sent: Moment, ttlMs: number, present: Moment): number {
	const passed = present.now - sent.now;
	const asleep = present.wallTime - sent.wallTime - passed;
	return sent.now + ttlMs - (asleep > ADJUSTMENT_MS ? asleep : 0);
}
