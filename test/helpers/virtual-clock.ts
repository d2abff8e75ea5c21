import type { Clock } from "../../src/base/clock.js";

interface Alarm {
	readonly at: number;
	readonly wake: () => void;
}

/** A clock that moves only when told to; its steady and its wall time start at `start`. */
export class VirtualClock implements Clock {
	private readonly alarms = new Set<Alarm>();

	constructor(private time = 1_000_000) {}

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
		const alarm = { at, wake };
		this.alarms.add(alarm);
		return () => void this.alarms.delete(alarm);
	}

	/** When the next alarm is due; undefined: none is set. */
	get nextAlarm(): number | undefined {
		const times = [...this.alarms].map(({ at }) => at);
		return times.length === 0 ? undefined : Math.min(...times);
	}

	/** Goes forward and rings what falls due, in order, letting promises settle in between. */
	async advance(durationMs: number): Promise<void> {
		const end = this.time + durationMs;
		await settle();
		for (;;) {
			const next = this.nextAlarm;
			if (next === undefined || next > end) break;
			this.time = Math.max(this.time, next);
			this.ring(next);
			await settle();
		}
		this.time = end;
	}

	/** Goes forward as `advance` does, for who waits for no promise. */
	pass(durationMs: number): void {
		const end = this.time + durationMs;
		for (;;) {
			const next = this.nextAlarm;
			if (next === undefined || next > end) break;
			this.time = Math.max(this.time, next);
			this.ring(next);
		}
		this.time = end;
	}

	/** Goes forward as for a process that stood still meanwhile: what fell due rings now, before anything else happens. */
	standStill(durationMs: number): void {
		this.time += durationMs;
		this.ring(this.time);
	}

	private ring(at: number): void {
		for (const alarm of [...this.alarms]) {
			// One that rang before may have cancelled it.
			if (alarm.at <= at && this.alarms.delete(alarm)) alarm.wake();
		}
	}
}

/** Lets every promise that can settle without time passing do so. */
export async function settle(): Promise<void> {
	for (let turn = 0; turn < 100; turn++) await Promise.resolve();
}
