import type { Clock } from "../../../src/clock.js";

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
	#now = 0;
	readonly #waking = new Set<{ at: number; wake: () => void }>();

	get pending(): number {
		return this.#waking.size;
	}

	now(): number {
		return this.#now;
	}

	wallTime(): number {
		return this.#now;
	}

	asleep(): number {
		return 0;
	}

	wakeAt(at: number, wake: () => void): () => void {
		const entry = { at, wake };
		this.#waking.add(entry);
		return () => this.#waking.delete(entry);
	}

	advance(durationMs: number): void {
		const end = this.#now + durationMs;
		for (;;) {
			const due = [...this.#waking]
				.filter(({ at }) => at <= end)
				.sort((a, b) => a.at - b.at)[0];
			if (due === undefined) break;
			this.#waking.delete(due);
			this.#now = Math.max(this.#now, due.at);
			due.wake();
		}
		this.#now = end;
	}
}
