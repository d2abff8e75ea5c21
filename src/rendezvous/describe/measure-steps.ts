import type { HistoryRecord } from "../records/history-record.js";
import type { LedgerRecord } from "../records/ledger-record.js";
import { firstSignOf } from "./measure-history.js";

type Line = Omit<HistoryRecord, "version">;

/** The steps of one round, over all its nodes. Null if unknown. */
export interface StepsOfRound {
	readonly first: number;
	readonly furthest: number;
	/** How many steps of earlier rounds had to be made again: from its first step to the furthest one before. */
	readonly lost: number | null;
	/** How many of these it has made. */
	readonly again: number | null;
	/** From the first sign of the end of the round before, or from its begin, to its first step, in milliseconds. */
	readonly toFirstMs: number | null;
}

/**
 * Null if none of its workers has shown a step.
 * @param before the round that was left for this one, if kept
 */
export function stepsOfRound(
	records: readonly LedgerRecord[],
	line: Line,
	before?: Line,
): StepsOfRound | null {
	const known = records.flatMap((record) => {
		const { round, steps } = record;
		return round === line.round && steps ? [{ ...record, steps }] : [];
	});
	if (known.length === 0) return null;
	const first = Math.min(...known.map(({ steps }) => steps.first));
	const furthest = Math.max(...known.map(({ steps }) => steps.furthest.step));
	const isUnsure = known.some(({ steps }) => steps.isUnsure);
	const earlier = Math.max(...known.map((record) => record.before?.step ?? -1));
	const isKnown = earlier >= 0 && !isUnsure;
	const from = firstSignOf(line, before) ?? line.begunAt;
	const at = Math.min(...known.map(({ steps }) => steps.firstAt));
	return {
		...{ first, furthest },
		lost: isKnown ? count(first, earlier) : null,
		again: isKnown ? count(first, Math.min(earlier, furthest)) : null,
		toFirstMs: from === null || at < from ? null : at - from,
	};
}

function count(first: number, last: number): number {
	return Math.max(0, last - first + 1);
}
