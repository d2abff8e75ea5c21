import { type Left, type Next, nextClaim, type Stopping } from "../state.js";
import { isToldToPause, remaining } from "../worker-slot.js";
import { type Active, endAll, withGrace } from "./begin-stopping.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { join } from "./take-seat.js";

/** How long an agent that leaves waits for the others to know what they must of it, in milliseconds. */
export const LEAVE_PATIENCE_MS = 2_000;
/** How long, where it had left that before it was asked to go, its word stands for the others to read. */
const LAST_WORD_MS = 500;

/** Once no worker is left that shall end: the run's outcome, else the next round or the door. */
export function goOnIfGone(
	state: Stopping,
	context: TransitionContext,
): Transition {
	const { view, next } = state;
	const foreign = view === null ? undefined : foreignInstance(state, view);
	const ending =
		foreign ?? (view?.round.outcome ? endingOf(view.round.outcome) : undefined);
	const isOver = ending !== undefined || next.kind === "leave";
	if (isOver && state.workers.some(isToldToPause)) {
		const reason = ending?.reason ?? "no round follows";
		return endAll(state, withGrace(next, context), reason);
	}
	if (remaining(state.workers).length > 0) return ignore(state);
	if (ending !== undefined) return close(state, ending);
	if (next.kind === "leave") return leaveWhenSeen(state, next, context);
	if (view === null) return ignore(state);
	const joined = join(state, view, context);
	return {
		...joined,
		reason:
			joined.reason || `its workers are gone: claims round ${nextClaim(view)}`,
	};
}

/** The same where less may be waited for than before. */
export function goOnFrom(
	state: Active,
	context: TransitionContext,
): Transition {
	return state.phase === "STOPPING"
		? goOnIfGone(state, context)
		: ignore(state);
}

/**
 * The others must know that this node's round is over before its lease goes; where it
 * had left that before it was asked to go, that it goes: else it would seem lost.
 */
function leaveWhenSeen(
	state: Stopping,
	next: Next & { kind: "leave" },
	{ now }: TransitionContext,
): Transition {
	const { synced = 0, deprecated = 0 } = state.view?.round ?? {};
	const seen = next.isLate ? synced !== state.round : deprecated >= state.round;
	if (seen || (next.leaveBy !== null && now >= next.leaveBy)) {
		return close(state, leftWith(next.exitCode, next.reason, next.root));
	}
	const patienceMs = next.isLate ? LAST_WORD_MS : LEAVE_PATIENCE_MS;
	const leaveBy = next.leaveBy ?? now + patienceMs;
	return ignore({ ...state, next: { ...next, leaveBy } });
}

/** Whether a node that has left a round is still a member of it, with others, as far as it knows. */
export function isMember({ view, round }: Left): boolean {
	return view !== null && view.round.synced === round && view.round.seats > 1;
}
