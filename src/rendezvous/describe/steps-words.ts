import { formatDuration, formatRate } from "../../base/units.js";
import type { WorkerStatus } from "./run-status.js";

/** "1234 (2.5/s), 3.0 s ago": the slowest of these workers; "-" if none has made a step. */
export function stepsInWords(workers: readonly WorkerStatus[]): string {
	const [slowest] = [...workers].sort((left, right) => left.step - right.step);
	if (slowest === undefined) return "-";
	const { step, stepRate, secondsSinceStep } = slowest;
	const rate = stepRate === null ? "" : ` (${formatRate(stepRate)})`;
	return `${step}${rate}, ${formatDuration(secondsSinceStep * 1_000)} ago`;
}
