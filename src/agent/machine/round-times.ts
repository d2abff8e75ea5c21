import type { Intent, NewIntent } from "../../rendezvous/records/intent.js";
import type { Reached } from "../../rendezvous/records/records.js";
import type { AgentState, Running } from "./state.js";

/**
 * The agent's intended record, with its times.
 * @param before the previous intent
 * @param wallTime milliseconds since 1970
 * @param reached how far its workers came in their newest round
 */
export function intentAt(
	intent: NewIntent | null,
	before: Intent | null,
	wallTime: number,
	reached?: Reached,
): Intent | null {
	if (intent === null) return null;
	const { state } = intent;
	const isSame = state === before?.state;
	const since = isSame ? before.since : wallTime;
	if (state === "running") return { ...intent, since };
	const ran =
		before?.state === "running"
			? { ranSince: before.since, ranUntil: wallTime }
			: { ranSince: before?.ranSince, ranUntil: before?.ranUntil };
	return { ...intent, since, ...ran, reached };
}

/**
 * How long ago the first sign was that this agent's round ends, in milliseconds.
 * @param wallTime milliseconds since 1970
 */
export function unseenMs(
	before: Running,
	{ view, failure }: AgentState,
	wallTime: number,
): number {
	if (failure !== null && failure !== before.failure) {
		return Math.max(0, wallTime - failure.failure.timestamp);
	}
	const { deprecated = 0, cause } = view?.round ?? {};
	return deprecated >= before.round ? (cause?.noticedAfterMs ?? 0) : 0;
}

/** Whether its workers run on in another round. */
export function beginsNext(before: AgentState, after: AgentState): boolean {
	const areRunning = before.phase === "RUNNING" && after.phase === "RUNNING";
	return areRunning && before.round !== after.round;
}
