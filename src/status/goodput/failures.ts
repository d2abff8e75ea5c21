import { firstSignOf } from "../round-times.js";
import type { Line } from "./node-ledger.js";
import type { RunAccounts } from "./read-ledger.js";

/** What failures cost. Times in seconds; null if there was none. */
export interface Recoveries {
	/** Ends of rounds by a failure or the loss of a node. */
	readonly failures: number;
	/** The time of the run by the number of failures. */
	readonly mtbfSeconds: number | null;
	/** How often a new step came after a failure, and how long that took from its first sign. */
	readonly count: number;
	readonly meanSeconds: number | null;
	readonly longestSeconds: number | null;
}

export function recoveriesOf(
	run: Pick<RunAccounts, "lines" | "accounts" | "root">,
	elapsedSeconds: number,
): Recoveries {
	const { lines } = run;
	const failed =
		lines.filter(isFailure).length + (endsByFailure(lines) ? 1 : 0);
	const times = recoverySeconds(run);
	const total = times.reduce((sum, time) => sum + time, 0);
	return {
		failures: failed,
		mtbfSeconds: failed === 0 ? null : elapsedSeconds / failed,
		count: times.length,
		meanSeconds: times.length === 0 ? null : total / times.length,
		longestSeconds: times.length === 0 ? null : Math.max(...times),
	};
}

function isFailure({ cause: { kind, isWish } }: Line): boolean {
	return (kind === "failure" && !isWish) || kind === "scale-down";
}

function endsByFailure(lines: readonly Line[]): boolean {
	return lines.at(-1)?.outcome === "failed";
}

/** All that fails before a new step belongs to the same recovery. */
function recoverySeconds({
	lines,
	accounts,
}: Pick<RunAccounts, "lines" | "accounts">): readonly number[] {
	const records = accounts.flatMap((account) => account.records);
	const times: number[] = [];
	let downSince: number | null = null;
	for (const [index, line] of lines.entries()) {
		if (isFailure(line)) {
			downSince ??= firstSignOf(line, lines[index - 1]) ?? line.begunAt;
		}
		const upAt = Math.min(
			...records.flatMap(({ round, steps }) =>
				round === line.round && steps?.newAt != null ? [steps.newAt] : [],
			),
		);
		if (!Number.isFinite(upAt)) continue;
		if (downSince !== null && upAt >= downSince) {
			times.push((upAt - downSince) / 1_000);
		}
		downSince = null;
	}
	return times;
}

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

/** How often to save, by Young and Daly: √(2 · cost of a save · mean time between failures). Null if unknown. */
export interface CheckpointAdvice {
	readonly saves: number;
	/** The mean cost of a save, as the workers announced it. */
	readonly saveSeconds: number | null;
	/** Over all kept starts of the run, for as many workers as it has now. */
	readonly mtbfSeconds: number | null;
	readonly starts: number;
	readonly workers: number;
	readonly intervalSeconds: number | null;
	/** What has not been measured, in words; null if nothing is missing. */
	readonly missing: string | null;
}

export function adviseCheckpoints(
	{ accounts }: Pick<RunAccounts, "accounts">,
	{ mtbfSeconds, starts, workers }: FailureRate,
): CheckpointAdvice {
	const records = accounts.flatMap((account) => account.records);
	const saves = records.reduce((sum, record) => sum + record.saves, 0);
	const savingMs = records
		.flatMap(({ stages }) => Object.values(stages))
		.reduce((sum, stage) => sum + stage.savingMs, 0);
	const saveSeconds = saves === 0 ? null : savingMs / saves / 1_000;
	const missing = [
		...(saveSeconds === null ? ["no save was announced"] : []),
		...(mtbfSeconds === null ? ["no failure was seen"] : []),
	].join(", and ");
	return {
		...{ saves, saveSeconds, mtbfSeconds, starts, workers },
		intervalSeconds:
			saveSeconds === null || mtbfSeconds === null
				? null
				: Math.sqrt(2 * saveSeconds * mtbfSeconds),
		missing: missing === "" ? null : missing,
	};
}
