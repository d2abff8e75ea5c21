import { type Clock, onBeat } from "../base/clock.js";

/** The pause while files change … */
const SHORTEST_PAUSE_MS = 50;
/** … which grows while they are quiet: it is this part of the quiet time. */
const PAUSE_PER_QUIET_TIME = 1 / 8;
const LONGEST_PAUSE_MS = 2_000;

/** The pause between two passes over the shown files. */
export class PassPause {
	private readonly clock: Clock;
	private hurried = false;
	private endSleep: () => void = () => {};

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** Begins a pass: later requests are for the next one. */
	begin(): void {
		this.hurried = false;
	}

	/** @param quietMs how long no file has changed */
	sleep(quietMs: number): Promise<void> {
		if (this.hurried) return Promise.resolve();
		const ms = Math.min(
			LONGEST_PAUSE_MS,
			Math.max(SHORTEST_PAUSE_MS, quietMs * PAUSE_PER_QUIET_TIME),
		);
		return new Promise((resolve) => {
			const at = onBeat(this.clock.now() + ms, ms);
			const cancel = this.clock.wakeAt(at, resolve);
			this.endSleep = () => {
				cancel();
				resolve();
			};
		});
	}

	/** Ends the pause, or skips the next one. */
	end(): void {
		this.hurried = true;
		this.endSleep();
	}
}
