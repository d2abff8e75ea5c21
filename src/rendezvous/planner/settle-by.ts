import type { Candidates } from "../records/candidates.js";
import {
	deadlineFor,
	type PlannerConfig,
	type SettleDeadline,
} from "./plan.js";

/**
 * The coordinator waits longer for a node that waits for its own paused workers, by the time that the node asks for. From
 * then on it waits that long for all nodes, because events on the others need their time as well.
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
