import { type HistoryRecord, isInOrder } from "../rendezvous/index.js";

type Line = Omit<HistoryRecord, "version">;

/**
 * How long each step into a round took, in milliseconds. Null if a time is unknown, or if two nodes' clocks contradict
 * each other.
 */
export interface RoundPhases {
	/** From the first sign of the previous round's end until the coordinator left that round. */
	readonly noticeMs: number | null;
	/** Until the last member that stayed had no workers left. */
	readonly stopMs: number | null;
	/** Until the last member was ready. */
	readonly readyMs: number | null;
	/** Until the barrier was lifted. */
	readonly barrierMs: number | null;
	/** Until all members ran. */
	readonly startMs: number | null;
	/** The total: from the first sign, or else from the end of the previous round or the start of the instance. */
	readonly totalMs: number | null;
}

/**
 * Each step begins where the one before ended; an unknown step is part of the next.
 * @param before the round that was left for this one, if kept
 */
export function phasesOf(line: Line, before?: Line): RoundPhases {
	const { begunAt, readyAt, liftedAt, startedAt } = line;
	const signAt = firstSignOf(line, before);
	const isKnown = isInOrder(line.stoppedAt, readyAt);
	const stoppedAt = isKnown ? line.stoppedAt : null;
	const stopMs = between(begunAt, stoppedAt);
	return {
		noticeMs: between(signAt, begunAt),
		stopMs,
		readyMs: between(stopMs === null ? begunAt : stoppedAt, readyAt),
		barrierMs: between(readyAt, liftedAt),
		startMs: between(liftedAt, startedAt),
		totalMs: between(signAt ?? begunAt, startedAt),
	};
}

/** When the first sign of a round's cause was. Null if there was none before the coordinator saw it, or a clock is wrong. */
export function firstSignOf(
	{ cause, begunAt }: Line,
	before?: Line,
): number | null {
	const { root, noticedAfterMs } = cause;
	if (begunAt === null) return null;
	if (noticedAfterMs !== undefined) return begunAt - noticedAfterMs;
	const failedAt = root?.timestamp ?? null;
	const isKnown = isInOrder(before?.liftedAt ?? null, failedAt);
	return isKnown && between(failedAt, begunAt) !== null ? failedAt : null;
}

/** How often something came back after a failure or the loss of a node, and how long that took from its first sign. */
export interface Repairs {
	readonly count: number;
	/** In milliseconds; null if there was none. */
	readonly meanMs: number | null;
	readonly longestMs: number | null;
}

export interface Measured {
	/** Until workers ran. */
	readonly repairs: Repairs;
	/** How long all members ran, over all rounds, in milliseconds. */
	readonly ranMs: number;
	/** The same for each round; null if they were never seen to run. */
	readonly ranOf: readonly (number | null)[];
}

/**
 * The sums over the rounds of one instance.
 * @param now milliseconds since 1970, the present end of a round without an end; null if unknown
 */
export function measureRounds(
	rounds: readonly Line[],
	now: number | null,
): Measured {
	const ranOf = rounds.map((line) => ranIn(line, now));
	return {
		repairs: repairsOf(rounds, ({ startedAt }) => startedAt),
		ranMs: ranOf.reduce<number>((total, ran) => total + (ran ?? 0), 0),
		ranOf,
	};
}

/** All members ran, if they ever did, until the first sign of the round's end. */
function ranIn(
	{ startedAt, endedAt, noticedAfterMs = 0 }: Line,
	now: number | null,
): number | null {
	if (startedAt === null || endedAt === null) return between(startedAt, now);
	return between(startedAt, Math.max(startedAt, endedAt - noticedAfterMs));
}

/**
 * Everything that happens before it is up again belongs to the same repair.
 * @param upAtOf when it was up in this round; null if it was not
 */
export function repairsOf(
	rounds: readonly Line[],
	upAtOf: (line: Line) => number | null,
): Repairs {
	const times: number[] = [];
	let downSince: number | null = null;
	for (const [index, line] of rounds.entries()) {
		const { cause, begunAt } = line;
		const isRepair = cause.kind === "failure" || cause.kind === "scale-down";
		if (isRepair) downSince ??= firstSignOf(line, rounds[index - 1]) ?? begunAt;
		const upAt = upAtOf(line);
		if (upAt === null) continue;
		if (downSince !== null && downSince <= upAt) times.push(upAt - downSince);
		downSince = null;
	}
	const count = times.length;
	const sum = times.reduce((total, time) => total + time, 0);
	return {
		count,
		meanMs: count === 0 ? null : sum / count,
		longestMs: count === 0 ? null : Math.max(...times),
	};
}

function between(from: number | null, to: number | null): number | null {
	return from === null || to === null || to < from ? null : to - from;
}
