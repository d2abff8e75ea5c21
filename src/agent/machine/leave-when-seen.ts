import { close, leftWith } from "./ending.js";
import type { Next, Stopping } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";

/** How long a leaving agent waits until the others know what they need, in milliseconds. */
export const LEAVE_PATIENCE_MS = 2_000;
/** How long its record stays readable if it had left the round before it was asked to go, in milliseconds. */
const LAST_WORD_MS = 500;

/**
 * Before its lease ends, the others must know that this node's round is over, or, if it had left the round before it was
 * asked to go, that it leaves. Otherwise it would seem lost.
 */
export function leaveWhenSeen(
	state: Stopping,
	next: Next & { kind: "leave" },
	{ now }: TransitionContext,
): Transition {
	const { synced = 0, deprecated = 0 } = state.view?.round ?? {};
	const { departure } = next;
	const isKnown =
		departure === undefined || state.view?.departure === departure;
	const isLeft = next.isLate
		? synced !== state.round
		: deprecated >= state.round;
	const seen = isKnown && isLeft;
	if (seen || (next.leaveBy !== null && now >= next.leaveBy)) {
		return close(state, leftWith(next.exitCode, next.reason, next.root));
	}
	const patienceMs = next.isLate ? LAST_WORD_MS : LEAVE_PATIENCE_MS;
	const leaveBy = next.leaveBy ?? now + patienceMs;
	return ignore({ ...state, next: { ...next, leaveBy } });
}
