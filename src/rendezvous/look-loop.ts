import type { Clock } from "../clock.js";
import { backOffMs, isUnreachable } from "./back-off.js";

/** The longest that a change whose hint got lost stays unseen, in milliseconds. */
export const LOOK_EVERY_MS = 5_000;

export interface LookLoopOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** Reads the whole picture and acts on it. Resolves with whether there may be more to do at once. */
	readonly look: () => Promise<boolean>;
	/** Told of what trying again cannot mend; nothing is looked at any more. */
	readonly onError: (error: unknown) => void;
}

/**
 * Looks whenever it is hinted: one look at a time, and one more after the last
 * hint. Where the store is unreachable it tries again; where a hint got lost, it
 * looks all the same, only later.
 */
export class LookLoop {
	private hinted = false;
	private busy = false;
	private closed = false;
	private failures = 0;
	private cancelTimer: () => void = () => {};

	constructor(private readonly options: LookLoopOptions) {}

	hint(): void {
		this.hinted = true;
		if (!this.busy) void this.run();
	}

	close(): void {
		this.closed = true;
		this.cancelTimer();
	}

	private async run(): Promise<void> {
		this.busy = true;
		this.cancelTimer();
		try {
			while (this.hinted && !this.closed) {
				this.hinted = false;
				if (await this.options.look()) this.hinted = true;
				this.failures = 0;
			}
			this.busy = false;
			this.lookAfter(LOOK_EVERY_MS);
		} catch (error) {
			this.recover(error);
		}
	}

	private recover(error: unknown): void {
		if (this.closed) return;
		if (!isUnreachable(error)) {
			this.options.onError(error);
			return;
		}
		this.failures += 1;
		this.lookAfter(backOffMs(this.failures, this.options.random()));
	}

	private lookAfter(delayMs: number): void {
		if (this.closed) return;
		const { clock } = this.options;
		this.cancelTimer = clock.wakeAt(clock.now() + delayMs, () => {
			this.hinted = true;
			void this.run();
		});
	}
}
