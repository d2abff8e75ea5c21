import type { FailureRate } from "./failure-rate.js";
import type { RunAccounts } from "./read-ledger.js";

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
