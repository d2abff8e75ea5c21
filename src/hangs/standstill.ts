/*
 * When a node's workers stand still, as one pure function.
 *
 *   workers of the node                                   | verdict
 *   ------------------------------------------------------|------------------
 *   some are paused, ending or not started                | nothing to judge
 *   none has made a step, start limit off or not reached  | starting
 *   none has made a step for the start limit              | no first step
 *   one has announced that no step comes for now          | busy
 *   all that ever made one have within the limit          | moving
 *   some have not for the limit, others have              | still, alone
 *   none has made a step for the limit                    | still
 *
 * A step is any change of a worker's number. The limit is the flag's, or
 * five times the longest step seen, and at least a minute; before a worker has
 * made five steps, at least ten minutes. The start limit is the flag's, or half
 * an hour if the workers use torch.distributed.
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
	/** 0: never; "auto": half an hour for workers that use torch.distributed. */
	readonly startMs: number | "auto";
}

/** Since when a worker makes no step while others do. */
interface Behind {
	/** Its last step. */
	readonly movedAt: number;
	readonly since: number;
	/** The last step of any other. */
	readonly othersAt: number;
}

/** Others that make no step for this part of the limit stand still as well. */
const GAP_PART = 0.5;

/** By local rank. */
export type BehindOthers = ReadonlyMap<number, Behind>;

/** What is known of the workers besides their last steps. */
export interface KnownBefore {
	readonly behind: BehindOthers;
	/** A worker of this node has made a step, now or earlier. */
	readonly countsSteps: boolean;
	/** Asked late: whether one has begun to join a process group of torch's. */
	readonly usesGroups: () => boolean;
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
	/** When the last step of those that stand still was; undefined: they have made none. */
	readonly movedAt: number | undefined;
	/** The workers that it is about, by local rank, while others make steps; undefined: all. */
	readonly alone?: readonly number[] | undefined;
	/** No step has come in this round; undefined if there were some. */
	readonly start?: StillStart | undefined;
}

/** A round without a first step. */
interface StillStart {
	/** The worker that has waited longest. */
	readonly localRank: number;
	/** No worker of this node has ever counted steps: perhaps only those of other nodes do. */
	readonly isUncounted: boolean;
	/** Nobody has asked for the limit. */
	readonly isUsual: boolean;
	/** Nor has a worker here begun to join a process group: it counts only if those of another node have. */
	readonly isUnsure: boolean;
}

/** Loading data and a model, and compiling it, takes less nearly everywhere. */
const USUAL_START_MS = 1_800_000;

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
 */
export function judgeStandstill(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
	before: KnownBefore,
	now: number,
): Standstill | undefined {
	const busyUntil = busyUntilOf(workers);
	if (now < busyUntil) return undefined;
	const lastStep = lastStepOf(workers);
	if (lastStep === undefined) {
		return judgeStart(workers, limits, before, now);
	}
	const limitMs = hangLimit(workers, limits);
	if (limitMs === undefined) return undefined;
	const since = Math.max(lastStep, busyUntil);
	const leastMs = limits.hangMs === "auto" ? UNLEARNED_MS : 0;
	const slowMs = Math.max(leastMs, SLOW_FACTOR * limitMs);
	return now < since + limitMs
		? judgeAlone(workers, { limitMs, slowMs }, before, now)
		: { since, stillMs: now - since, limitMs, slowMs, movedAt: lastStep };
}

/** Those that count steps and have made none for the limit, while others have. */
function judgeAlone(
	workers: readonly WatchedWorker[],
	{ limitMs, slowMs }: Pick<Standstill, "limitMs" | "slowMs">,
	{ behind }: Pick<KnownBefore, "behind">,
	now: number,
): Standstill | undefined {
	const gapMs = limitMs * GAP_PART;
	const stillSince = ({ localRank, busyUntil }: WatchedWorker) => {
		const known = behind.get(localRank);
		const isLeft = known !== undefined && now - known.othersAt <= gapMs;
		return isLeft ? Math.max(known.since, busyUntil) : now;
	};
	const still = workers.filter((worker) => now >= stillSince(worker) + limitMs);
	if (still.length === 0) return undefined;
	const since = Math.max(...still.map(stillSince));
	return {
		since,
		stillMs: now - since,
		limitMs,
		slowMs,
		movedAt: lastStepOf(still),
		alone: still.map(({ localRank }) => localRank),
	};
}

/** When these workers stand still, unless one makes a step before; undefined if that is not known yet. */
export function stillFrom(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
): number | undefined {
	const lastStep = lastStepOf(workers);
	const busyUntil = busyUntilOf(workers);
	if (lastStep === undefined) {
		const { startMs } = limits;
		const since = firstOf(workers)?.since;
		if (since === undefined || startMs === 0) return undefined;
		return Math.max(since, busyUntil) + startLimit(startMs);
	}
	const limitMs = hangLimit(workers, limits);
	return limitMs === undefined
		? undefined
		: Math.max(lastStep, busyUntil) + limitMs;
}

function busyUntilOf(workers: readonly WatchedWorker[]): number {
	return Math.max(0, ...workers.map((worker) => worker.busyUntil));
}

function lastStepOf(workers: readonly WatchedWorker[]): number | undefined {
	const times = workers.flatMap(({ movement }) => movement?.at ?? []);
	return times.length === 0 ? undefined : Math.max(...times);
}

/** The worker that has waited longest for its first step, and since when. */
function firstOf(workers: readonly WatchedWorker[]) {
	const [first] = [...workers].sort((left, right) => left.since - right.since);
	if (first === undefined) return undefined;
	const { localRank, since, busyUntil } = first;
	return { localRank, since: Math.max(since, busyUntil) };
}

function startLimit(startMs: number | "auto"): number {
	return startMs === "auto" ? USUAL_START_MS : startMs;
}

function judgeStart(
	workers: readonly WatchedWorker[],
	{ startMs }: HangLimits,
	{ countsSteps, usesGroups }: Omit<KnownBefore, "behind">,
	now: number,
): Standstill | undefined {
	const first = firstOf(workers);
	if (first === undefined || startMs === 0) return undefined;
	const limitMs = startLimit(startMs);
	const { localRank } = first;
	const since = Math.max(first.since, busyUntilOf(workers));
	const stillMs = now - since;
	if (stillMs < limitMs) return undefined;
	const isUsual = startMs === "auto";
	const isUnsure = isUsual && !usesGroups();
	const start = { localRank, isUsual, isUnsure, isUncounted: !countsSteps };
	const slowMs = SLOW_FACTOR * limitMs;
	return { since, stillMs, limitMs, slowMs, movedAt: undefined, start };
}

/**
 * Follows who makes no step while others do. Where all stand still for long, as in an evaluation, somebody is the first to
 * go on: only from then on the others are behind.
 */
export function behindOthers(
	before: BehindOthers,
	workers: readonly WatchedWorker[],
	limits: HangLimits,
): BehindOthers {
	const gapMs = (hangLimit(workers, limits) ?? 0) * GAP_PART;
	const found = new Map<number, Behind>();
	for (const { localRank, movement } of workers) {
		if (movement === undefined) continue;
		const { at: movedAt } = movement;
		const others = workers.filter((one) => one.localRank !== localRank);
		const othersAt = lastStepOf(others) ?? movedAt;
		const known = before.get(localRank);
		const { since, othersAt: until } =
			known?.movedAt === movedAt
				? known
				: { since: movedAt, othersAt: movedAt };
		found.set(localRank, {
			movedAt,
			since: othersAt - until > gapMs ? othersAt : since,
			othersAt: Math.max(othersAt, until),
		});
	}
	return found;
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
