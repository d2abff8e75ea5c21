import type { Clock } from "../../src/base/clock.js";
import type { ProcessHistory } from "./history.js";
import type { Random } from "./random.js";
import type { Timeline } from "./timeline.js";

/** Added to simulated time for wall clocks, so that they look like dates. */
const WALL_START_MS = 1_700_000_000_000;

/** One moment on both clocks of a process. */
export interface Stamp {
	readonly now: number;
	readonly wallTime: number;
}

/**
 * The event loop of one simulated process: it can be frozen, and nothing of it
 * happens once it is dead. All that reaches the process comes through here.
 */
export class SimProcess {
	readonly clock: Clock;
	dead = false;
	/** Until when the machine sleeps, and everything on it. */
	asleepUntil = 0;
	private isFrozen = false;
	/** For how long the steady clock stood still, because the machine slept. */
	private sleptMs = 0;
	/** The time that the last timer was set to: rounding must not make it ring too early. */
	private rangAt = 0;
	private readonly skewMs: number;
	private timers: (() => unknown)[] = [];
	private arrivals: (() => void)[] = [];

	constructor(
		readonly history: ProcessHistory,
		private readonly timeline: Timeline,
		private readonly random: Random,
	) {
		this.skewMs = random.integer(-5_000, 5_000);
		this.clock = {
			now: () => this.stamp().now,
			asleep: () => this.sleptMs,
			wallTime: () => Math.round(this.stamp().wallTime),
			wakeAt: (at, wake) => this.wakeAt(at, wake),
		};
	}

	stamp(): Stamp {
		const { now } = this.timeline;
		return {
			now: Math.max(this.rangAt, now - this.sleptMs),
			wallTime: WALL_START_MS + this.skewMs + now,
		};
	}

	/** Something from outside reaches the process. */
	deliver(arrival: () => void): void {
		if (this.dead) return;
		if (this.isFrozen) this.arrivals.push(arrival);
		else arrival();
	}

	/** SIGSTOP until SIGCONT. */
	freeze(durationMs: number): void {
		if (this.dead || this.isFrozen) return;
		const from = this.timeline.now;
		const span = { from, to: from + durationMs };
		this.history.frozen.push(span);
		this.isFrozen = true;
		this.timeline.at(span.to, () => this.thaw());
	}

	/** The whole machine sleeps, and its steady clock with it. */
	sleep(durationMs: number): void {
		if (this.dead || this.isFrozen) return;
		this.freeze(durationMs);
		this.asleepUntil = this.timeline.now + durationMs;
		this.sleptMs += durationMs;
	}

	/** Everything that waited happens now; a loop that slept in its poll takes arrivals before timers. */
	private thaw(): void {
		this.isFrozen = false;
		const backlog = this.random.chance(0.5)
			? [...this.arrivals, ...this.timers]
			: [...this.timers, ...this.arrivals];
		this.arrivals = [];
		this.timers = [];
		for (const item of backlog) {
			this.timeline.after(0, () => this.deliver(item));
		}
	}

	private wakeAt(at: number, wake: () => unknown): () => void {
		let forget: () => void = () => {};
		let cancelled = false;
		const ring = (): unknown => {
			if (cancelled || this.dead) return undefined;
			if (this.isFrozen) return this.timers.push(ring);
			const dueAt = at + this.sleptMs;
			if (dueAt > this.timeline.now) {
				// The machine slept meanwhile.
				forget = this.timeline.at(dueAt, ring);
				return undefined;
			}
			this.rangAt = Math.max(this.rangAt, at);
			return wake();
		};
		forget = this.timeline.at(at + this.sleptMs, ring);
		return () => {
			cancelled = true;
			forget();
		};
	}
}
