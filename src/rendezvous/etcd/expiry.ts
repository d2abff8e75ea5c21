import type { Clock } from "../../clock.js";

/** One moment on each scale: the steady one stands still while a machine sleeps, the wall's can be set. */
export interface Moment {
	readonly now: number;
	readonly wallTime: number;
	readonly asleep: number;
}

/** What the wall clock may gain or lose by being adjusted, in milliseconds; beyond that it was set, or the machine slept. */
const ADJUSTMENT_MS = 500;

export function momentOf(clock: Clock): Moment {
	return {
		now: clock.now(),
		wallTime: clock.wallTime(),
		asleep: clock.asleep(),
	};
}

/**
 * Until when a lease lives, on the steady scale, if its keepalive was sent then.
 * What the machine has slept since is taken off: the store was awake. Only where
 * the wall clock says that there may have been sleep is it looked up, because
 * that takes a system call or two.
 */
export function expiryOf(sent: Moment, ttlMs: number, clock: Clock): number {
	const passed = clock.now() - sent.now;
	const gained = clock.wallTime() - sent.wallTime - passed;
	const slept =
		Math.abs(gained) > ADJUSTMENT_MS ? clock.asleep() - sent.asleep : 0;
	return sent.now + ttlMs - Math.max(0, slept);
}
