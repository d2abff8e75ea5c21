import type { Pace } from "../model/step.js";

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
