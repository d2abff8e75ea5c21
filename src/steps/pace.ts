import type { Pace } from "../model/index.js";
import type { CountedSteps } from "./sources.js";

/** A pace is that of so many steps. */
export const PACE_STEPS = 20;
/** So many of them may be faster, and so many slower, than nearly all. */
const OUTLIERS = 2;

/** The last samples of one worker, oldest first, in seconds. */
export type Samples = readonly number[];

export function sampled(samples: Samples, sample: number): Samples {
	return [...samples.slice(1 - PACE_STEPS), sample];
}

/** Undefined before enough steps. */
export function paceOf(by: Pace["by"], samples: Samples): Pace | undefined {
	if (samples.length < PACE_STEPS) return undefined;
	const sorted = [...samples].sort((left, right) => left - right);
	const [least, most] = [sorted[OUTLIERS], sorted.at(-1 - OUTLIERS)];
	if (least === undefined || most === undefined) return undefined;
	return { by, least, usual: medianOf(sorted), most };
}

/** The middle one, or the mean of the two in the middle; NaN of none. */
export function medianOf(values: readonly number[]): number {
	const sorted = [...values].sort((left, right) => left - right);
	const upper = sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
	const lower = sorted[Math.ceil(sorted.length / 2) - 1] ?? upper;
	return (lower + upper) / 2;
}

type Timed = Pick<CountedSteps, "timed" | "ownSeconds">;

/** How long the steps of one worker take until it waits for others: a sample for each look that finds new steps. */
export class OwnTime {
	private samples: Samples = [];
	private before: Timed = { timed: 0, ownSeconds: 0 };

	/** Takes what the hook has counted; its numbers begin again in another process. */
	note(counted: Timed): void {
		const { timed, ownSeconds } = this.before;
		const steps = counted.timed - timed;
		const seconds = counted.ownSeconds - ownSeconds;
		this.before = counted;
		if (steps <= 0 || seconds < 0) return;
		this.samples = sampled(this.samples, seconds / steps);
	}

	/** Undefined before enough samples. */
	get pace(): Pace | undefined {
		return paceOf("own-time", this.samples);
	}

	/** Another round: the times of the last one are no longer of interest. */
	clear(): void {
		this.samples = [];
	}
}

/** Steps that not all workers of the node have reported yet. */
const MOST_OPEN = 64;

/**
 * How late each worker of a node reports a step, measured from the middle one of its node. All of them run on one
 * machine, so their times are of one clock.
 */
export class Arrivals {
	private readonly ranks = new Set<number>();
	/** By step, and by local rank: milliseconds since 1970. */
	private readonly open = new Map<number, Map<number, number>>();
	private readonly late = new Map<number, Samples>();

	/** @param at when the worker reported the step, by its own clock, in milliseconds */
	note(localRank: number, step: number, at: number): void {
		this.ranks.add(localRank);
		const times = this.open.get(step) ?? new Map<number, number>();
		times.set(localRank, at);
		this.open.set(step, times);
		if (times.size === this.ranks.size && times.size > 1) {
			this.compare(times);
			this.forgetUntil(step);
		} else if (this.open.size > MOST_OPEN) {
			const [oldest = step] = this.open.keys();
			this.forgetUntil(oldest);
		}
	}

	/** Undefined before enough steps that all workers of the node have reported. */
	paceOf(localRank: number): Pace | undefined {
		return paceOf("arrival", this.late.get(localRank) ?? []);
	}

	/** Another round: nothing is known. */
	clear(): void {
		this.ranks.clear();
		this.open.clear();
		this.late.clear();
	}

	private compare(times: ReadonlyMap<number, number>): void {
		const sorted = [...times.values()].sort((left, right) => left - right);
		// Of two, the first: the other one may be the straggler.
		const middle = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
		for (const [localRank, at] of times) {
			const before = this.late.get(localRank) ?? [];
			this.late.set(localRank, sampled(before, (at - middle) / 1_000));
		}
	}

	/** Workers go on together, so what came before this step will not be completed. */
	private forgetUntil(step: number): void {
		for (const each of this.open.keys()) {
			this.open.delete(each);
			if (each === step) return;
		}
	}
}
