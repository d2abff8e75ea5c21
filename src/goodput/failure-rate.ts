import type { Line } from "./node-ledger.js";
import { endsByFailure, isFailure } from "./recoveries.js";

/** How often this run has failed, over all of its kept starts. */
export interface FailureRate {
	/** Starts of the run that are kept. */
	readonly starts: number;
	readonly failures: number;
	/** How many workers its newest round has. */
	readonly workers: number;
	/** The mean time between failures of one worker; null if there was none. */
	readonly workerMtbfSeconds: number | null;
	/** The same for so many workers as run now: one of them fails so often. */
	readonly mtbfSeconds: number | null;
}

/**
 * One worker of many fails more often than one alone, so the time of all workers counts.
 * @param starts the rounds of each start, oldest first
 * @param until when the newest round ended, or now; in milliseconds since 1970
 */
export function failureRateOf(
	starts: readonly (readonly Line[])[],
	until: number,
): FailureRate {
	const failures = starts.reduce(
		(sum, lines) =>
			sum + lines.filter(isFailure).length + (endsByFailure(lines) ? 1 : 0),
		0,
	);
	const newest = starts.at(-1);
	const workerMs = starts.reduce(
		(sum, lines) => sum + workerTimeMs(lines, lines === newest ? until : null),
		0,
	);
	const workers = newest?.at(-1)?.worldSize ?? 0;
	const workerMtbfSeconds = failures === 0 ? null : workerMs / failures / 1_000;
	const isKnown = workerMtbfSeconds !== null && workers > 0;
	return {
		...{ starts: starts.length, failures, workers, workerMtbfSeconds },
		mtbfSeconds: isKnown ? workerMtbfSeconds / workers : null,
	};
}

/** The time of all workers of these rounds. Of a round whose end nobody saw nothing is counted. */
function workerTimeMs(lines: readonly Line[], until: number | null): number {
	return lines.reduce((sum, line, index) => {
		const isLast = index === lines.length - 1;
		const next = lines[index + 1]?.begunAt ?? null;
		const end = line.endedAt ?? next ?? (isLast ? until : null);
		return end === null
			? sum
			: sum + Math.max(0, end - line.liftedAt) * line.worldSize;
	}, 0);
}
