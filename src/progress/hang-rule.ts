/*
 * When a node's workers stand still, as one pure function.
 *
 *   workers of the node                                   | verdict
 *   ------------------------------------------------------|------------------
 *   some are paused, ending or not started                | nothing to judge
 *   none has made a step, start limit off or not reached  | starting
 *   none has made a step for the start limit, and earlier | no first step
 *     workers of this node did                            |
 *   one has announced that no step comes for now          | busy
 *   one has made a step within the limit                  | moving
 *   none has made a step for the limit                    | still
 *
 * A step is any change of a worker's number. The limit is the flag's, or
 * five times the longest step seen, and at least a minute; before a worker has
 * made five steps, at least ten minutes.
 */

import type { Movement } from "./movement.js";

/** The time limits, in milliseconds. */
export interface HangLimits {
	/** 0: never; "auto": learned from the steps. */
	readonly hangMs: number | "auto";
	/** 0: never. */
	readonly startMs: number;
}

/** One worker that runs in the round. Times are on the agent's steady clock. */
export interface WatchedWorker {
	readonly localRank: number;
	/** When it was started, or was told to work in this round. */
	readonly since: number;
	/** Undefined if it has made no step in this round. */
	readonly movement: Movement | undefined;
	/** Until when it has said that no step comes. */
	readonly busyUntil: number;
}

export type Standstill =
	| { readonly kind: "fine" }
	/** No worker has made a step for so long. */
	| {
			readonly kind: "still";
			/** Names this standstill: later judgements of it have the same. */
			readonly since: number;
			readonly stillMs: number;
			readonly limitMs: number;
	  }
	/** This worker has not made its first step for so long. */
	| {
			readonly kind: "no-first-step";
			readonly localRank: number;
			readonly since: number;
			readonly stillMs: number;
			readonly limitMs: number;
	  };

const LEARNED_LEAST_MS = 60_000;
const LEARNED_FACTOR = 5;
/** Fewer steps do not tell how long one usually takes. */
const LEARNED_STEPS = 5;
const UNLEARNED_MS = 600_000;

/**
 * @param workers all of the node, none of them paused or ending
 * @param countsSteps whether a worker of this node has ever made a step
 */
export function judgeStandstill(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
	countsSteps: boolean,
	now: number,
): Standstill {
	const busyUntil = busyUntilOf(workers);
	if (now < busyUntil) return { kind: "fine" };
	const lastStep = lastStepOf(workers);
	if (lastStep === undefined) {
		return judgeStart(workers, limits, countsSteps, now);
	}
	const limitMs = hangLimit(workers, limits);
	if (limitMs === undefined) return { kind: "fine" };
	const since = Math.max(lastStep, busyUntil);
	return now >= since + limitMs
		? { kind: "still", since, stillMs: now - since, limitMs }
		: { kind: "fine" };
}

/** When these workers stand still, unless one makes a step before; undefined if that is not known yet. */
export function stillFrom(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
): number | undefined {
	const lastStep = lastStepOf(workers);
	const limitMs = hangLimit(workers, limits);
	if (lastStep === undefined || limitMs === undefined) return undefined;
	return Math.max(lastStep, busyUntilOf(workers)) + limitMs;
}

function busyUntilOf(workers: readonly WatchedWorker[]): number {
	return Math.max(0, ...workers.map((worker) => worker.busyUntil));
}

function lastStepOf(workers: readonly WatchedWorker[]): number | undefined {
	const times = workers.flatMap(({ movement }) => movement?.at ?? []);
	return times.length === 0 ? undefined : Math.max(...times);
}

function judgeStart(
	workers: readonly WatchedWorker[],
	{ startMs }: HangLimits,
	countsSteps: boolean,
	now: number,
): Standstill {
	const [first] = [...workers].sort((left, right) => left.since - right.since);
	if (first === undefined || startMs === 0 || !countsSteps) {
		return { kind: "fine" };
	}
	const from = Math.max(first.since, first.busyUntil);
	const { localRank } = first;
	return now - from >= startMs
		? {
				...{ kind: "no-first-step", localRank, since: from },
				...{ stillMs: now - from, limitMs: startMs },
			}
		: { kind: "fine" };
}

function hangLimit(
	workers: readonly WatchedWorker[],
	{ hangMs }: HangLimits,
): number | undefined {
	if (hangMs === 0) return undefined;
	if (hangMs !== "auto") return hangMs;
	const movements = workers.flatMap(({ movement }) => movement ?? []);
	const longestMs = Math.max(...movements.map((one) => one.longestMs));
	const isLearned = movements.some(({ moves }) => moves >= LEARNED_STEPS);
	const leastMs = isLearned ? LEARNED_LEAST_MS : UNLEARNED_MS;
	return Math.max(leastMs, LEARNED_FACTOR * longestMs);
}
