import type { Clock } from "../../base/clock.js";

/** How long the starts of a round are retried, in milliseconds. */
export const PATIENCE_MS = 20_000;
const FIRST_DELAY_MS = 250;
const LONGEST_DELAY_MS = 4_000;

export interface StartAgainOptions<Worker> {
	readonly clock: Clock;
	/** Whether the node has its lease: an agent that was frozen, or whose machine slept, may not have heard of its loss. */
	readonly holdsLease: () => boolean;
	/** Starts these workers once more. */
	readonly start: (workers: readonly Worker[]) => void;
	readonly warn: (message: string) => void;
}

/** Restarts workers that could not be started because this node lacks something, after growing delays. */
export class StartAgain<Worker> {
	private readonly waiting = new Set<Worker>();
	private giveUpAt: number | undefined;
	private delayMs = FIRST_DELAY_MS;
	private cancelTimer = () => {};

	constructor(private readonly options: StartAgainOptions<Worker>) {}

	/** A round begins: its retries are timed from the first start that fails. */
	reset(): void {
		this.cancelTimer();
		this.waiting.clear();
		this.giveUpAt = undefined;
		this.delayMs = FIRST_DELAY_MS;
	}

	/** Starts these again later. @returns false if their time is over */
	add(workers: readonly Worker[], problem: string): boolean {
		const { clock } = this.options;
		const now = clock.now();
		this.giveUpAt ??= now + PATIENCE_MS;
		if (now >= this.giveUpAt) return false;
		if (this.waiting.size === 0) this.arm(now, this.giveUpAt, problem);
		for (const worker of workers) this.waiting.add(worker);
		return true;
	}

	/** The worker is no longer wanted. @returns whether its start was pending */
	cancel(worker: Worker): boolean {
		const wasWaiting = this.waiting.delete(worker);
		if (this.waiting.size === 0) this.cancelTimer();
		return wasWaiting;
	}

	private arm(now: number, giveUpAt: number, problem: string): void {
		const at = Math.min(now + this.delayMs, giveUpAt);
		this.delayMs = Math.min(2 * this.delayMs, LONGEST_DELAY_MS);
		this.startAt(at);
		const inSeconds = Math.round((at - now) / 10) / 100;
		const leftSeconds = Math.ceil((giveUpAt - now) / 1_000);
		this.options.warn(
			`${problem}; the start is tried again in ${inSeconds} s, for at most ${leftSeconds} s more`,
		);
	}

	private startAt(at: number): void {
		const { clock, holdsLease, start } = this.options;
		this.cancelTimer = clock.wakeAt(at, () => {
			// Its loss, if it is found now, cancels what waits.
			if (!holdsLease()) {
				if (this.waiting.size > 0) this.startAt(clock.now() + FIRST_DELAY_MS);
				return;
			}
			const workers = [...this.waiting];
			this.waiting.clear();
			start(workers);
		});
	}
}
