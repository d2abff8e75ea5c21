import { BEAT_MS, type Clock, onBeat } from "../clock.js";

/** How often to look although nothing was notified, in milliseconds: hints may be lost. */
export const POLL_MS = BEAT_MS;

/** The same where there are no notifications at all. */
export const SOLE_POLL_MS = 150;

/** Calls `look` again and again. The clock's timers decide whether that keeps the process alive. */
export class Poll {
	readonly #clock: Clock;
	readonly #look: () => void;
	#cancel: () => void = () => {};

	constructor(clock: Clock, look: () => void) {
		this.#clock = clock;
		this.#look = look;
	}

	/** Starts, or goes on at another pace. */
	every(intervalMs: number): void {
		this.#cancel();
		const dueAt = this.#clock.now() + intervalMs;
		this.#cancel = this.#clock.wakeAt(onBeat(dueAt, intervalMs), () => {
			this.every(intervalMs);
			this.#look();
		});
	}

	stop(): void {
		this.#cancel();
	}
}
