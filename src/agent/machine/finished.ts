import type { RoundView } from "../../rendezvous/member/membership.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import type { AgentInput } from "./inputs.js";
import { LEAVE_PATIENCE_MS } from "./leave-when-seen.js";
import { onNotice } from "./on-notice.js";
import { isTermDue, isWorthARound, leavingFor } from "./pending-notices.js";
import { hasHadItsRound, recreate } from "./recreate.js";
import { finishInNext, isOfOthers } from "./run-on.js";
import { type Finished, nextClaim } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import type { StopRequest } from "./stop.js";
import { join } from "./take-seat.js";

/** All its workers have succeeded; it waits for the other nodes of the round. */
export function onFinished(
	state: Finished,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen": {
			const { view } = input;
			const { outcome, deprecated } = view.round;
			const ending =
				foreignInstance(state, view) ?? (outcome && endingOf(outcome));
			if (ending) return close({ ...state, view }, ending);
			const moved = finishInNext(state, view, context);
			if (moved !== undefined) return moved;
			const stays = context.policy.finishedNodes === "stay";
			const isOver = !stays && !isOfOthers(view, context);
			const isLeft = deprecated >= state.round && isOver;
			const after = { ...state, view };
			if (state.leave !== undefined) return leaveWhenSaid(after, isLeft);
			const { notices } = state;
			if (isLeft && notices && !isWorthARound(notices, context.now)) {
				const said = leavingFor(notices);
				return close(after, leftWith(said.exitCode, said.reason));
			}
			return isLeft ? joinAnew(state, view, context) : ignore(after);
		}
		case "noticed":
		case "notice-withdrawn":
			return onNotice(state, input, context);
		case "time-passed": {
			const { notices } = state;
			const isTold = state.leave !== undefined;
			if (!isTold && notices && isTermDue(notices, context.now)) {
				const said = { ...leavingFor(notices), immediately: false };
				return leave(state, { ...said, isByNotice: true }, context);
			}
			const leaveBy = state.leave?.leaveBy ?? Number.POSITIVE_INFINITY;
			return leaveWhenSaid(state, context.now >= leaveBy);
		}
		case "stop-asked":
			return leave(state, input, context);
		case "session-lost":
		case "worker-started":
		case "worker-exited":
		case "worker-not-started":
		case "worker-gone":
		case "worker-attached":
		case "worker-acknowledged":
		case "worker-waits":
		case "worker-works":
		case "worker-not-told":
		case "worker-hung":
		case "worker-noticed":
		case "worker-ready":
			return ignore(state);
		default:
			return input satisfies never;
	}
}

/** Before it leaves, the store must know that it has finished, or the others would repeat its part. */
function leave(
	state: Finished,
	{ exitCode, reason, immediately, isByNotice }: StopRequest,
	{ now }: TransitionContext,
): Transition {
	const leaveBy = now + LEAVE_PATIENCE_MS;
	const told = state.leave ?? { exitCode, reason, leaveBy };
	const leaving = { ...state, leave: { ...told, isByNotice } };
	const left = leaveWhenSaid(leaving, immediately);
	if (left.state.phase === "CLOSED") return left;
	const until = "goes when the store knows that its workers have succeeded";
	return { ...left, reason: `${reason}: ${until}` };
}

/** @param isVain whether no node waits for its record any more, or it has waited long enough */
function leaveWhenSaid(state: Finished, isVain: boolean): Transition {
	const { leave, planId, view } = state;
	const isOver = isVain || view?.finishedPlan === planId;
	return leave !== undefined && isOver
		? close(state, leftWith(leave.exitCode, leave.reason))
		: ignore(state);
}

function joinAnew(
	state: Finished,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const { round } = state;
	if (hasHadItsRound({ round, workers: [] }, context)) {
		return recreate({ ...state, view }, context);
	}
	const joined = join(state, view, context);
	const { reason } = view.round.cause;
	return {
		...joined,
		reason: joined.reason || `claims round ${nextClaim(view)}: ${reason}`,
	};
}
