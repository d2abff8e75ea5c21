import type { Clock } from "../../../src/base/clock.js";

/** A clock that stands still until the test moves it. */
export class ManualClock implements Clock {
	private time = 0;
	private readonly waking = new Set<{ at: number; wake: () => void }>();

	get pending(): number {
		return this.waking.size;
	}

	now(): number {
		return this.time;
	}

	wallTime(): number {
		return this.time;
	}

	asleep(): number {
		return 0;
	}

	wakeAt(at: number, wake: () => void): () => void {
		const entry = { at, wake };
		this.waking.add(entry);
		return () => this.waking.delete(entry);
	}

	advance(durationMs: number): void {
		const end = this.time + durationMs;
		for (;;) {
			const due = [...this.waking]
				.filter(({ at }) => at <= end)
				.sort((a, b) => a.at - b.at)[0];
			if (due === undefined) break;
			this.waking.delete(due);
			this.time = Math.max(this.time, due.at);
			due.wake();
		}
		this.time = end;
	}
}
