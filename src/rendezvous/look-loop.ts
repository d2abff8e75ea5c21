import type { Clock } from "../clock.js";
import { backOffMs, isPassing } from "./back-off.js";

/** The longest that a change whose hint got lost stays unseen, in milliseconds. */
export const LOOK_EVERY_MS = 5_000;

const UNCHANGED = { revision: 0, lookAt: Number.POSITIVE_INFINITY };

export interface LookLoopOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** The revision of the store that was read last. */
	readonly seen: () => number;
	/**
	 * Reads the whole picture and acts on it. Resolves with whether to look again at once.
	 * @param atLeast the revision of the change that the look is for; Infinity: nobody knows
	 */
	readonly look: (atLeast: number) => Promise<boolean>;
	/** Acts on what was seen last. Resolves with whether to look at once. */
	readonly act?: () => Promise<boolean>;
	/** Told of what trying again cannot mend; nothing is looked at any more. */
	readonly onError: (error: unknown) => void;
}

/**
 * Looks whenever it is hinted, and acts whenever it is told to: one thing at a
 * time, and once more after the last hint. Where the store is unreachable, or
 * something else is missing for a moment, it tries again; where a hint got lost,
 * it looks all the same, only later.
 */
export class LookLoop {
	/** When to look, and when to act, on the clock. */
	private lookAt = Number.POSITIVE_INFINITY;
	private actAt = Number.POSITIVE_INFINITY;
	/** What was hinted at, and by when it is to be looked at. */
	private changed = UNCHANGED;
	/** The revision that the next look is to see. */
	private wanted = 0;
	/** Until when nothing is done. */
	private restUntil = Number.NEGATIVE_INFINITY;
	private busy = false;
	private closed = false;
	private failures = 0;
	private cancelTimer: () => void = () => {};

	constructor(private readonly options: LookLoopOptions) {}

	/** To look, within this time in milliseconds. */
	hint(withinMs = 0): void {
		this.lookWithin(withinMs);
		this.goOn();
	}

	/**
	 * The same for a change of the store. Who has read it at this revision or later need
	 * not look, nor who is just reading it; without a revision there is nothing to go by.
	 */
	hintAt(revision = Number.POSITIVE_INFINITY, withinMs = 0): void {
		this.changed = {
			revision: Math.max(this.changed.revision, revision),
			lookAt: Math.min(
				this.changed.lookAt,
				this.options.clock.now() + withinMs,
			),
		};
		this.goOn();
	}

	/** To act, within this time in milliseconds. */
	nudge(withinMs = 0): void {
		this.actAt = Math.min(this.actAt, this.options.clock.now() + withinMs);
		this.goOn();
	}

	/** To do nothing for this time in milliseconds, so that what is hinted at meanwhile is seen in one look. */
	rest(durationMs: number): void {
		this.restUntil = this.options.clock.now() + durationMs;
	}

	close(): void {
		this.closed = true;
		this.cancelTimer();
	}

	private goOn(): void {
		if (this.busy || this.closed) return;
		this.cancelTimer();
		const { clock, seen } = this.options;
		if (this.changed.revision > seen()) {
			this.lookAt = Math.min(this.lookAt, this.changed.lookAt);
			this.wanted = Math.max(this.wanted, this.changed.revision);
		}
		this.changed = UNCHANGED;
		const at = Math.max(this.restUntil, Math.min(this.lookAt, this.actAt));
		if (at <= clock.now()) void this.run();
		else this.cancelTimer = clock.wakeAt(at, () => this.goOn());
	}

	private async run(): Promise<void> {
		this.busy = true;
		try {
			const isAgain = await this.once();
			this.failures = 0;
			this.lookWithin(isAgain ? 0 : this.spreadMs);
		} catch (error) {
			if (this.closed) return;
			if (!isPassing(error)) {
				this.options.onError(error);
				return;
			}
			this.failures += 1;
			this.rest(backOffMs(this.failures, this.options.random()));
			this.lookWithin(0);
		}
		this.busy = false;
		this.goOn();
	}

	private async once(): Promise<boolean> {
		const { clock, look, act } = this.options;
		const now = clock.now();
		if (this.actAt <= now) this.actAt = Number.POSITIVE_INFINITY;
		if (this.lookAt > now && act !== undefined) return act();
		this.lookAt = Number.POSITIVE_INFINITY;
		const isAgain = await look(this.wanted);
		this.wanted = 0;
		return isAgain;
	}

	/** Those who were hinted at together do not look together for ever. */
	private get spreadMs(): number {
		return LOOK_EVERY_MS * (1 - this.options.random() / 4);
	}

	private lookWithin(durationMs: number): void {
		const { clock } = this.options;
		this.lookAt = Math.min(this.lookAt, clock.now() + durationMs);
	}
}
