import type { HistoryRecord } from "./history.js";

/** By how much the clocks of nodes may differ that nobody would call wrong, in milliseconds. */
const SKEW_MS = 1_000;

type Line = Omit<HistoryRecord, "version">;

/**
 * How long each step of the way into a round took, in milliseconds. Null where
 * a time is not known, or where the clocks of two nodes contradict each other.
 */
export interface RoundPhases {
	/** From the failure, by its own node's clock, until the coordinator had left the round for it. */
	readonly noticeMs: number | null;
	/** Until the last of the members that stayed had no workers any more. */
	readonly stopMs: number | null;
	/** Until the last member was ready. */
	readonly readyMs: number | null;
	/** Until the barrier was lifted. */
	readonly barrierMs: number | null;
	/** Until all members ran. */
	readonly startMs: number | null;
	/** All of it: from the failure, the end of the round before, or the start of the instance. */
	readonly totalMs: number | null;
}

/**
 * The steps begin where the one before them ended; one that is not known is part of the next.
 * @param before the round that was left for this one, where it is kept
 */
export function phasesOf(line: Line, before?: Line): RoundPhases {
	const { begunAt, readyAt, liftedAt, startedAt } = line;
	const failedAt = failureOf(line, before);
	const isKnown = isInOrder(line.stoppedAt, readyAt);
	const stoppedAt = isKnown ? line.stoppedAt : null;
	const stopMs = between(begunAt, stoppedAt);
	return {
		noticeMs: between(failedAt, begunAt),
		stopMs,
		readyMs: between(stopMs === null ? begunAt : stoppedAt, readyAt),
		barrierMs: between(readyAt, liftedAt),
		startMs: between(liftedAt, startedAt),
		totalMs: between(failedAt ?? begunAt, startedAt),
	};
}

/** When that failed for which a round was begun, by its own node; null: nothing did, or its clock cannot be right. */
function failureOf({ cause, begunAt }: Line, before?: Line): number | null {
	const failedAt = cause.root?.timestamp ?? null;
	const isKnown = isInOrder(before?.liftedAt ?? null, failedAt);
	return isKnown && between(failedAt, begunAt) !== null ? failedAt : null;
}

/** Whether two nodes' clocks can both be right, or as good as right, where one thing came before the other. */
function isInOrder(earlier: number | null, later: number | null): boolean {
	return earlier === null || later === null || earlier - later <= SKEW_MS;
}

/** A failure, or the loss of a node, and when workers ran again. */
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
	/** The same of each round; null where they never were seen to. */
	readonly ranOf: readonly (number | null)[];
}

/**
 * What the rounds of one instance add up to.
 * @param now milliseconds since 1970, up to when a round without an end has run; null: nobody knows
 */
export function measureRounds(
	rounds: readonly Line[],
	now: number | null,
): Measured {
	const ranOf = rounds.map(({ startedAt, endedAt }) =>
		between(startedAt, endedAt ?? now),
	);
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

/** What happens before workers run again belongs to the same repair. */
function repairsOf(rounds: readonly Line[]): readonly Repair[] {
	const repairs: Repair[] = [];
	let downSince: number | null = null;
	for (const [index, line] of rounds.entries()) {
		const { cause, begunAt, startedAt } = line;
		const isRepair = cause.kind === "failure" || cause.kind === "scale-down";
		if (isRepair) downSince ??= failureOf(line, rounds[index - 1]) ?? begunAt;
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
