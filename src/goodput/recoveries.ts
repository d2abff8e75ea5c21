import { firstSignOf } from "../rendezvous/describe/measure-history.js";
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

export function isFailure({ cause: { kind, isWish } }: Line): boolean {
	return (kind === "failure" && !isWish) || kind === "scale-down";
}

export function endsByFailure(lines: readonly Line[]): boolean {
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
