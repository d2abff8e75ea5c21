import type { FailureRecord } from "../../rendezvous/failure.js";
import type { Next } from "../state.js";
import { living } from "../worker-slot.js";
import { type Active, endAll, withGrace } from "./begin-stopping.js";
import { close, leftWith } from "./ending.js";
import { goOnIfGone, isMember } from "./go-on.js";
import { kill } from "./kill.js";
import type { Transition, TransitionContext } from "./step.js";

export interface StopRequest {
	readonly exitCode: number;
	readonly reason: string;
	readonly immediately: boolean;
	/** The failure of its own for which it goes, if it does. */
	readonly root?: FailureRecord | null;
	/** Somebody wants it to go. */
	readonly isAsked?: boolean;
}

/** Ends all workers of the round: SIGTERM now, SIGKILL when their time is over. */
export function stop(
	state: Active,
	next: Next,
	reason: string,
	context: TransitionContext,
	killAt = withGrace(next, context).killAt,
): Transition {
	const ended = endAll(state, { next, killAt }, reason);
	const after = goOnIfGone(ended.state, context);
	return {
		state: after.state,
		effects: [...ended.effects, ...after.effects],
		reason,
	};
}

/** Ends the workers, and then this node's part in the run. */
export function leave(
	state: Active,
	{ exitCode, reason, immediately, root = null, isAsked }: StopRequest,
	context: TransitionContext,
): Transition {
	const isLate = isAsked && state.phase !== "RUNNING" && isMember(state);
	const about = { exitCode, reason, root, isAsked, isLate };
	const next: Next = { kind: "leave", ...about, leaveBy: null };
	const isUnknown = state.phase === "JOINING" && !isLate;
	if (isUnknown && living(state.workers).length === 0) {
		return close(state, leftWith(exitCode, reason));
	}
	const stopped = stop(state, next, reason, context);
	if (!immediately || stopped.state.phase !== "STOPPING") return stopped;
	return living(stopped.state.workers).length === 0
		? close(stopped.state, leftWith(exitCode, reason))
		: kill(stopped.state, reason, context);
}
