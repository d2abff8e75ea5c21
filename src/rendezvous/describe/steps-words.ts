import { formatDuration, formatRate } from "../../base/units.js";
import type { Hang } from "../../model/hang.js";
import type { Straggler } from "../../model/step.js";
import type { WorkerStatus } from "./run-status.js";

/** "1234 (2.5/s), 3.0 s ago": the slowest of these workers; "-" if none has made a step. */
export function stepsInWords(workers: readonly WorkerStatus[]): string {
	const [slowest] = [...workers].sort((left, right) => left.step - right.step);
	if (slowest === undefined) return "-";
	const { step, stepRate, secondsSinceStep } = slowest;
	const rate = stepRate === null ? "" : ` (${formatRate(stepRate)})`;
	return `${step}${rate}, ${formatDuration(secondsSinceStep * 1_000)} ago`;
}

/** "each step waits for rank 2 on node-b: 31 ms, 12.4 s in all". */
export function stragglerInWords({
	rank,
	node,
	lostSecondsPerStep,
	lostSeconds,
}: Straggler): string {
	const each = formatDuration(lostSecondsPerStep * 1_000);
	const all = formatDuration(lostSeconds * 1_000);
	return `each step waits for rank ${rank} on ${node}: ${each}, ${all} in all`;
}

/** "rank 2 on node-b: it has not entered gloo:all_reduce …, at train.py:41 in load_batch". */
export function hangInWords({ suspect, kind }: Hang): string {
	if (suspect === null) return "nothing points to one rank";
	const { rank, node, why, where } = suspect;
	const place = where === null ? "" : `, at ${where}`;
	const works = kind === "slow" ? " (it computes or reads)" : "";
	return `rank ${rank} on ${node}: ${why}${place}${works}`;
}
