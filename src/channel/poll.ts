import { BEAT_MS, type Clock, onBeat } from "../base/clock.js";

/** How often to look without a notification, in milliseconds: notifications may be lost. */
export const POLL_MS = BEAT_MS;

/** The same where there are no notifications. */
export const SOLE_POLL_MS = 150;

/** Calls `look` repeatedly. The clock's timers decide whether that keeps the process alive. */
export class Poll {
	private readonly clock: Clock;
	private readonly look: () => void;
	private cancel: () => void = () => {};

	constructor(clock: Clock, look: () => void) {
		this.clock = clock;
		this.look = look;
	}

	/** Starts, or changes the interval. */
	every(intervalMs: number): void {
		this.cancel();
		const dueAt = this.clock.now() + intervalMs;
		this.cancel = this.clock.wakeAt(onBeat(dueAt, intervalMs), () => {
			this.every(intervalMs);
			this.look();
		});
	}

	stop(): void {
		this.cancel();
	}
}
