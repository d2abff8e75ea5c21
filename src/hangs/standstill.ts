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

import type { StepSource } from "../model/index.js";
import type {
	Movement,
	NodeProcess,
	NodeWorker,
	WorkerReader,
} from "../steps/index.js";

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

/** No worker has made a step for so long. */
export interface Standstill {
	/** Names it: later judgements of it have the same. */
	readonly since: number;
	readonly stillMs: number;
	readonly limitMs: number;
	/** Workers that compute, read or write are ended after so long. */
	readonly slowMs: number;
	/** The worker whose first step has not come; undefined if there were steps in this round. */
	readonly withoutFirstStep?: number | undefined;
}

const LEARNED_LEAST_MS = 60_000;
const LEARNED_FACTOR = 5;
/** Fewer steps do not tell how long one usually takes. */
const LEARNED_STEPS = 5;
const UNLEARNED_MS = 600_000;
/** A slow worker is given so many times the limit; by a learned one, as long as without. */
const SLOW_FACTOR = 3;

/**
 * Undefined if they do not stand still.
 * @param workers all of the node, none of them paused or ending
 * @param countsSteps whether a worker of this node has ever made a step
 */
export function judgeStandstill(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
	countsSteps: boolean,
	now: number,
): Standstill | undefined {
	const busyUntil = busyUntilOf(workers);
	if (now < busyUntil) return undefined;
	const lastStep = lastStepOf(workers);
	if (lastStep === undefined) {
		return judgeStart(workers, limits, countsSteps, now);
	}
	const limitMs = hangLimit(workers, limits);
	if (limitMs === undefined) return undefined;
	const since = Math.max(lastStep, busyUntil);
	if (now < since + limitMs) return undefined;
	const leastMs = limits.hangMs === "auto" ? UNLEARNED_MS : 0;
	const slowMs = Math.max(leastMs, SLOW_FACTOR * limitMs);
	return { since, stillMs: now - since, limitMs, slowMs };
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
): Standstill | undefined {
	const [first] = [...workers].sort((left, right) => left.since - right.since);
	if (first === undefined || startMs === 0 || !countsSteps) return undefined;
	const since = Math.max(first.since, busyUntilOf(workers));
	const stillMs = now - since;
	if (stillMs < startMs) return undefined;
	const { localRank: withoutFirstStep } = first;
	const slowMs = SLOW_FACTOR * startMs;
	return { since, stillMs, limitMs: startMs, slowMs, withoutFirstStep };
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

/** Times on the agent's clock. */
export interface WatchedTimes {
	/** When the round began. */
	readonly since: number;
	/** When this process last went on after it had been stopped. */
	readonly wokeAt: number;
	/** Until when a worker's steps from this source may have been lost. */
	readonly lostUntil: (source: StepSource | undefined) => number;
}

/**
 * The workers to judge; undefined if there is nothing to judge. Ended workers make no more steps; a paused or ending one
 * means that the round is being left.
 */
export function watchedWorkers(
	workers: readonly NodeWorker[],
	processes: readonly NodeProcess[],
	readers: {
		of(
			process: NodeProcess,
		): Pick<WorkerReader, "movement" | "busyUntil" | "countedBy">;
	},
	{ since, wokeAt, lostUntil }: WatchedTimes,
): readonly WatchedWorker[] | undefined {
	const there = workers.filter(({ status }) => status !== "gone");
	if (there.length === 0 || !there.every(isWorking)) return undefined;
	const localRanks = new Set(there.map(({ localRank }) => localRank));
	return processes
		.filter(({ localRank }) => localRanks.has(localRank))
		.map((process) => {
			const { localRank } = process;
			const { movement, busyUntil: announced, countedBy } = readers.of(process);
			// What the launcher slept through, or a full disk has lost, says nothing of its workers.
			const busyUntil = Math.max(announced, wokeAt, lostUntil(countedBy));
			return { localRank, since, movement, busyUntil };
		});
}

function isWorking({ status, pid, killAt, goneBy }: NodeWorker): boolean {
	const isEnding = killAt !== null || goneBy !== null;
	return status === "running" && pid !== null && !isEnding;
}
