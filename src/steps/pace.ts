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
/** So many steps tell whether workers wait for each other, where fewer may look so by chance. */
const COUPLED_STEPS = 40;
/** What is below proves it; what is above the second refutes it. */
const COUPLED_BELOW = 0.85;
const COUPLED_UNTIL = 1.1;

/** When each worker reported a step, by local rank: milliseconds since 1970. */
type Times = ReadonlyMap<number, number>;

/**
 * How late each worker of a node reports a step, measured from the middle one of its node. All of them run on one
 * machine, so their times are of one clock. It is undefined unless they provably wait for each other.
 */
export class Arrivals {
	private readonly ranks = new Set<number>();
	/** By step. */
	private readonly open = new Map<number, Map<number, number>>();
	/** The last steps that all workers have reported. */
	private complete: readonly Times[] = [];
	private areCoupled = false;

	/** @param at when the worker reported the step, by its own clock, in milliseconds */
	note(localRank: number, step: number, at: number): void {
		this.ranks.add(localRank);
		const times = this.open.get(step) ?? new Map<number, number>();
		times.set(localRank, at);
		this.open.set(step, times);
		if (times.size === this.ranks.size && times.size > 1) {
			this.take(times);
			this.forgetUntil(step);
		} else if (this.open.size > MOST_OPEN) {
			// One is so many steps ahead of another.
			this.complete = [];
			this.areCoupled = false;
			const [oldest = step] = this.open.keys();
			this.forgetUntil(oldest);
		}
	}

	/** Undefined before enough steps that all workers of the node have reported. */
	paceOf(localRank: number): Pace | undefined {
		return this.areCoupled
			? paceOf("arrival", lateness(this.complete.slice(-PACE_STEPS), localRank))
			: undefined;
	}

	/** Another round: nothing is known. */
	clear(): void {
		this.ranks.clear();
		this.open.clear();
		this.complete = [];
		this.areCoupled = false;
	}

	private take(times: Times): void {
		const [before] = this.complete;
		const isOfMore = before !== undefined && before.size < times.size;
		const known = isOfMore ? [] : this.complete.slice(-COUPLED_STEPS);
		this.complete = [...known, times];
		if (this.complete.length <= COUPLED_STEPS) return;
		const limit = this.areCoupled ? COUPLED_UNTIL : COUPLED_BELOW;
		this.areCoupled = freedom(this.complete) < limit;
	}

	/** Workers go on together, so what came before this step will not be completed. */
	private forgetUntil(step: number): void {
		for (const each of this.open.keys()) {
			this.open.delete(each);
			if (each === step) return;
		}
	}
}

/** How much later this worker reported these steps than the middle one, in seconds. */
function lateness(steps: readonly Times[], localRank: number): Samples {
	return steps.flatMap((times) => {
		const at = times.get(localRank);
		const sorted = [...times.values()].sort((left, right) => left - right);
		// Of two, the first: the other one may be the straggler.
		const middle = sorted[Math.ceil(sorted.length / 2) - 1] ?? 0;
		return at === undefined ? [] : (at - middle) / 1_000;
	});
}

/**
 * How free of each other workers are. Where they wait, a step's time follows from the last one's report of the step before:
 * it varies less from there than from the worker's own report before. So the quotient of both is about 0.6, and of workers that
 * only happen to be equally fast it is far above 1. Infinite where one was a step ahead of another.
 */
function freedom(steps: readonly Times[]): number {
	const localRanks = [...(steps[0]?.keys() ?? [])];
	let [fromLast, fromOwn] = [0, 0];
	for (const localRank of localRanks) {
		const sinceLast: number[] = [];
		const sinceOwn: number[] = [];
		for (const [index, times] of steps.slice(1).entries()) {
			const before = steps[index] ?? times;
			const last = Math.max(...before.values());
			const [own = last, at = last] = [before, times].map((one) =>
				one.get(localRank),
			);
			if (at < last) return Number.POSITIVE_INFINITY;
			// For the last one itself both are the same.
			if (own === last) continue;
			sinceLast.push(at - last);
			sinceOwn.push(at - own);
		}
		fromLast += deviations(sinceLast);
		fromOwn += deviations(sinceOwn);
	}
	return fromOwn === 0 ? Number.POSITIVE_INFINITY : fromLast / fromOwn;
}

/** The sum of the distances from the middle one. */
function deviations(values: readonly number[]): number {
	const middle = medianOf(values);
	return values.reduce((sum, value) => sum + Math.abs(value - middle), 0);
}
