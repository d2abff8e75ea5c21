import type { Candidates } from "./candidates.js";
import {
	deadlineFor,
	type PlannerConfig,
	type SettleDeadline,
} from "./plan.js";

/**
 * Who waits for its own paused workers is waited for that much longer than others. So is
 * everybody, from then on: what befalls another meanwhile needs its time as well.
 */
export function settleBy(
	round: number,
	known: SettleDeadline | null,
	{ lateForMs }: Candidates,
	{ settleTimeoutMs }: PlannerConfig,
	now: number,
): SettleDeadline {
	const { at } = deadlineFor(round, known, settleTimeoutMs, now);
	const longerByMs = known?.round === round ? known.longerByMs : 0;
	const moreMs = Math.max(0, lateForMs - longerByMs);
	return { round, at: at + moreMs, longerByMs: longerByMs + moreMs };
}
