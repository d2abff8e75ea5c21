import { backOffMs, isPassing } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";

/** The longest time, in milliseconds, that a change with a lost notification stays unseen. */
export const LOOK_EVERY_MS = 5_000;
/** The same for each agent of a job so large that their looks would keep the store busy. */
const LOOK_EVERY_MS_AN_AGENT = 5;

const UNCHANGED = { revision: 0, lookAt: Number.POSITIVE_INFINITY };

interface ReconcileLoopOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** The revision of the last read. */
	readonly seen: () => number;
	/** How many agents read as this one does. Default: one. */
	readonly agents?: () => number;
	/**
	 * Reads all records and acts on them. Resolves with whether to read again at once.
	 * @param atLeast the revision that must be covered; Infinity if unknown
	 */
	readonly look: (atLeast: number) => Promise<boolean>;
	/** Acts on the last read. Resolves with whether to read at once. */
	readonly act?: () => Promise<boolean>;
	/** Called with an error that retries cannot mend; the loop has stopped. */
	readonly onError: (error: unknown) => void;
}

/**
 * Reads after notifications and writes on request: one thing at a time, and once more after the last notification. It
 * retries while the store is unreachable or something else is missing for a moment. A lost notification only delays the
 * next read.
 */
export class ReconcileLoop {
	/** When to read, and when to act, on the clock. */
	private lookAt = Number.POSITIVE_INFINITY;
	private actAt = Number.POSITIVE_INFINITY;
	/** The pending changes, and by when to read them. */
	private changed = UNCHANGED;
	/** The revision that the next read must cover. */
	private wanted = 0;
	/** Nothing is done before this time. */
	private restUntil = Number.NEGATIVE_INFINITY;
	private busy = false;
	private closed = false;
	private failures = 0;
	private cancelTimer: () => void = () => {};

	constructor(private readonly options: ReconcileLoopOptions) {}

	/** Requests a read within this time, in milliseconds. */
	requestRead(withinMs = 0): void {
		this.lookWithin(withinMs);
		this.goOn();
	}

	/**
	 * The same for a change of the store. A read at this revision or later, past or running, makes it unnecessary. Without
	 * a revision that cannot be known.
	 */
	requestReadAt(revision = Number.POSITIVE_INFINITY, withinMs = 0): void {
		this.changed = {
			revision: Math.max(this.changed.revision, revision),
			lookAt: Math.min(
				this.changed.lookAt,
				this.options.clock.now() + withinMs,
			),
		};
		this.goOn();
	}

	/** Requests an action within this time, in milliseconds. */
	requestWrite(withinMs = 0): void {
		this.actAt = Math.min(this.actAt, this.options.clock.now() + withinMs);
		this.goOn();
	}

	/** Does nothing for this time, in milliseconds, so that one read covers all changes in between. */
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

	/** Agents that were notified together spread their reads. */
	private get spreadMs(): number {
		const { agents = () => 1, random } = this.options;
		const longest = agents() * LOOK_EVERY_MS_AN_AGENT;
		return Math.max(LOOK_EVERY_MS, longest) * (1 - random() / 4);
	}

	private lookWithin(durationMs: number): void {
		const { clock } = this.options;
		this.lookAt = Math.min(this.lookAt, clock.now() + durationMs);
	}
}
