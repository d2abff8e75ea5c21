import type { Clock } from "../../../base/clock.js";

/** One moment on each scale. The steady clock stops while a machine sleeps; the wall clock can be set. */
export interface Moment {
	readonly now: number;
	readonly wallTime: number;
	readonly asleep: number;
}

/** How far adjustments may move the wall clock, in milliseconds. Beyond that it was set, or the machine slept. */
const ADJUSTMENT_MS = 500;

export function momentOf(clock: Clock): Moment {
	return {
		now: clock.now(),
		wallTime: clock.wallTime(),
		asleep: clock.asleep(),
	};
}

/**
 * When a lease expires on the steady scale, given when its keepalive was sent. Time that the machine has slept since is
 * subtracted: the store was awake. Sleep is looked up only if the wall clock suggests it, because that takes a system
 * call or two.
 */
export function expiryOf(sent: Moment, ttlMs: number, clock: Clock): number {
	const passed = clock.now() - sent.now;
	const gained = clock.wallTime() - sent.wallTime - passed;
	const slept =
		Math.abs(gained) > ADJUSTMENT_MS ? clock.asleep() - sent.asleep : 0;
	return sent.now + ttlMs - Math.max(0, slept);
}
