import type { Intent } from "../../rendezvous/records/record-writer.js";
import type { AgentState, Running } from "./state.js";

/**
 * The agent's intended record, with its times.
 * @param before the previous intent
 * @param wallTime milliseconds since 1970
 */
export function intentAt(
	intent: Omit<Intent, "since" | "ranUntil"> | null,
	before: Intent | null,
	wallTime: number,
): Intent | null {
	if (intent === null) return null;
	const { state } = intent;
	const isSame = state === before?.state;
	const ranUntil =
		before?.state === "running" && !isSame ? wallTime : before?.ranUntil;
	return {
		...intent,
		since: isSame ? before.since : wallTime,
		ranUntil: state === "running" ? undefined : ranUntil,
	};
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
