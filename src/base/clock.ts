import { uptime } from "node:os";

/** Time as a port, so that all waiting can run on a virtual clock. The project counts durations and deadlines in milliseconds. */
export interface Clock {
	/** Milliseconds on a steady scale. It never goes back and says nothing about the date. */
	now(): number;
	/**
	 * How many milliseconds the machine has slept while `now()` stood still. It counts from an arbitrary moment, is right
	 * to about 20 ms, and ignores changes of the wall clock.
	 */
	asleep(): number;
	/** Milliseconds since 1970, for people, file names and instance numbers; never for durations. */
	wallTime(): number;
	/** Calls `wake` once, when `now()` has reached `at`. Returns a function that cancels it. */
	wakeAt(at: number, wake: () => void): () => void;
}

/** The longest delay that Node's timers take. A later deadline is reached in several steps. */
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/** Linux's steady clock stops while the machine sleeps; its uptime does not. Elsewhere the steady clock goes on as well. */
const asleep =
	process.platform === "linux"
		? () => uptime() * 1_000 - performance.now()
		: () => 0;

/** The real clock. Its timers keep the process alive until they fire or are cancelled. */
export const systemClock: Clock = clockWith((wake, delayMs) =>
	setTimeout(wake, delayMs),
);

/** The real clock for background work: its timers let the process end. */
export const backgroundClock: Clock = clockWith((wake, delayMs) =>
	setTimeout(wake, delayMs).unref(),
);

function clockWith(
	startTimer: (wake: () => void, delayMs: number) => NodeJS.Timeout,
): Clock {
	return {
		now: () => performance.now(),
		asleep,
		wallTime: () => Date.now(),
		wakeAt(at, wake) {
			let timer: NodeJS.Timeout;
			const arm = () => {
				const delayMs = Math.max(0, Math.ceil(at - performance.now()));
				timer = startTimer(fire, Math.min(delayMs, LONGEST_TIMER_MS));
			};
			// Node's timers count whole milliseconds, and some fire a part of one too early.
			const fire = () => (performance.now() < at ? arm() : wake());
			arm();
			return () => clearTimeout(timer);
		},
	};
}

/** How often background watchers look around, in milliseconds. */
export const BEAT_MS = 1_000;

/**
 * When to wake for something due at `dueAt`, `afterMs` after it was last done. Work done each second or less often shares
 * one beat, so that an idle process wakes once for all of it.
 */
export function onBeat(dueAt: number, afterMs: number): number {
	return afterMs < BEAT_MS ? dueAt : Math.round(dueAt / BEAT_MS) * BEAT_MS;
}
