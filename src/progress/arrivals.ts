import type { Pace } from "../model/step.js";
import { paceOf, type Samples, sampled } from "./pace.js";

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
