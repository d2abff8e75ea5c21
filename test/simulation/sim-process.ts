import type { Clock } from "../../src/clock.js";
import type { ProcessHistory } from "./history.js";
import type { Random } from "./random.js";
import type { Timeline } from "./timeline.js";

/** Added to simulated time for wall clocks, so that they look like dates. */
const WALL_START_MS = 1_700_000_000_000;

/**
 * The event loop of one simulated process: it can be frozen, and nothing of it
 * happens once it is dead. All that reaches the process comes through here.
 */
export class SimProcess {
	readonly clock: Clock;
	dead = false;
	private isFrozen = false;
	private timers: (() => void)[] = [];
	private arrivals: (() => void)[] = [];

	constructor(
		readonly history: ProcessHistory,
		private readonly timeline: Timeline,
		private readonly random: Random,
	) {
		const skewMs = random.integer(-5_000, 5_000);
		this.clock = {
			now: () => timeline.now,
			wallTime: () => WALL_START_MS + skewMs + Math.round(timeline.now),
			wakeAt: (at, wake) => this.wakeAt(at, wake),
		};
	}

	/** Something from outside reaches the process. */
	deliver(arrival: () => void): void {
		if (this.dead) return;
		if (this.isFrozen) this.arrivals.push(arrival);
		else arrival();
	}

	freeze(durationMs: number): void {
		if (this.dead || this.isFrozen) return;
		const from = this.timeline.now;
		const span = { from, to: from + durationMs };
		this.history.frozen.push(span);
		this.isFrozen = true;
		this.timeline.at(span.to, () => this.thaw());
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

	private wakeAt(at: number, wake: () => void): () => void {
		let cancelled = false;
		const ring = () => {
			if (!cancelled) wake();
		};
		const forget = this.timeline.at(at, () => {
			if (this.dead) return;
			if (this.isFrozen) this.timers.push(ring);
			else ring();
		});
		return () => {
			cancelled = true;
			forget();
		};
	}
}
