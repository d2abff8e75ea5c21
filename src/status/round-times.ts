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

/** The first sign of a failure or of the loss of a node, and when workers ran again. */
interface Repair {
	readonly from: number;
	readonly to: number;
}

export interface Measured {
	readonly repairs: {
		readonly count: number;
		readonly meanMs: number | null;
		readonly longestMs: number | null;
	};
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
	const times = repairsOf(rounds).map(({ from, to }) => to - from);
	const sum = times.reduce((total, time) => total + time, 0);
	return {
		repairs: {
			count: times.length,
			meanMs: times.length === 0 ? null : sum / times.length,
			longestMs: times.length === 0 ? null : Math.max(...times),
		},
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

/** Everything that happens before workers run again belongs to the same repair. */
function repairsOf(rounds: readonly Line[]): readonly Repair[] {
	const repairs: Repair[] = [];
	let downSince: number | null = null;
	for (const [index, line] of rounds.entries()) {
		const { cause, begunAt, startedAt } = line;
		const isRepair = cause.kind === "failure" || cause.kind === "scale-down";
		if (isRepair) downSince ??= firstSignOf(line, rounds[index - 1]) ?? begunAt;
		if (startedAt === null) continue;
		if (downSince !== null && downSince <= startedAt) {
			repairs.push({ from: downSince, to: startedAt });
		}
		downSince = null;
	}
	return repairs;
}

function between(from: number | null, to: number | null): number | null {
	return from === null || to === null || to < from ? null : to - from;
}
