import type { FailureRecord } from "../../rendezvous/records/failure.js";
import { type Active, endAll, withGrace } from "./begin-stopping.js";
import { close, leftWith } from "./ending.js";
import { goOnIfGone, isMember } from "./go-on.js";
import { kill } from "./kill.js";
import { inTime } from "./pending-notices.js";
import { signalFirst } from "./signal-first.js";
import type { Next } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { living } from "./worker-slot.js";

export interface StopRequest {
	readonly exitCode: number;
	readonly reason: string;
	readonly immediately: boolean;
	/** Its own failure that makes it leave, if any. */
	readonly root?: FailureRecord | null;
	/** Somebody asked it to leave. */
	readonly isAsked?: boolean;
	/** Its machine goes. */
	readonly isByNotice?: boolean;
	/** When the workers are killed. Default: when the shutdown time-out is over. */
	readonly killAt?: number;
	/** What the workers get first; default: SIGTERM. */
	readonly signal?: NodeJS.Signals | undefined;
	/** Its node is to be replaced. */
	readonly departure?: "replaced" | undefined;
}

/** Ends all workers of the round: SIGTERM now, SIGKILL when their grace period is over. */
export function stop(
	state: Active,
	next: Next,
	reason: string,
	context: TransitionContext,
	wanted = withGrace(state, next, context).killAt,
): Transition {
	const killAt = inTime(wanted, state.notices, context);
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
	request: StopRequest,
	context: TransitionContext,
): Transition {
	const { exitCode, reason, immediately, root = null } = request;
	const { isAsked, isByNotice, departure, killAt } = request;
	const isLate = isAsked && state.phase !== "RUNNING" && isMember(state);
	const about = {
		...{ exitCode, reason, root, isAsked, isLate },
		...{ isByNotice, departure },
	};
	const next: Next = { kind: "leave", ...about, leaveBy: null };
	const isUnknown = state.phase === "JOINING" && !isLate;
	if (isUnknown && living(state.workers).length === 0) {
		return close(state, leftWith(exitCode, reason));
	}
	const stopped = signalFirst(
		stop(state, next, reason, context, killAt),
		request.signal,
		context,
	);
	if (!immediately || stopped.state.phase !== "STOPPING") return stopped;
	return living(stopped.state.workers).length === 0
		? close(stopped.state, leftWith(exitCode, reason))
		: kill(stopped.state, reason, context);
}
