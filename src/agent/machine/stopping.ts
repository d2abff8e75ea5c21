import type { RoundView } from "../../rendezvous/member/membership.js";
import { endAll, tellToEnd, withGrace } from "./begin-stopping.js";
import { close, cutOffIn, leftWith } from "./ending.js";
import { goOnIfGone, isMember } from "./go-on.js";
import type { AgentInput } from "./inputs.js";
import { kill } from "./kill.js";
import { killDue } from "./kill-due.js";
import { leaveIfDue, leaveIfTooLate, markReply } from "./leave-by-notice.js";
import { onNotice } from "./on-notice.js";
import { onPaused } from "./paused.js";
import { signalFirst, termIfDue } from "./signal-first.js";
import { type Next, nextClaim, type Stopping } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { stop } from "./stop.js";
import {
	isEnding,
	isUnexplained,
	living,
	type WorkerSlot,
} from "./worker-slot.js";
import { markExited, markGone, markStarted, toEnd } from "./worker-slots.js";

/** Workers were told to end; `next` holds what comes after. */
export function onStopping(
	state: Stopping,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen":
			return goOnIfGone(asking(state, input.view), context);
		case "worker-exited":
			return (
				(isHolding(state) ? undefined : onPaused(state, input, context)) ??
				goOnIfHeld(
					{ ...state, workers: markExited(state.workers, input, null) },
					context,
				)
			);
		case "worker-started":
			return ignore({ ...state, workers: markStarted(state.workers, input) });
		case "worker-not-started":
			return ignore(state);
		case "worker-gone":
			return goOnIfGone(
				{ ...state, workers: markGone(state.workers, input.localRank) },
				context,
			);
		case "worker-attached":
		case "worker-acknowledged":
		case "worker-waits":
		case "worker-works":
		case "worker-not-told":
		case "worker-hung":
			return onPaused(state, input, context) ?? ignore(state);
		case "noticed":
		case "notice-withdrawn":
			return onNotice(state, input, context);
		case "worker-noticed":
		case "worker-ready":
			return goOnIfHeld(
				{ ...state, workers: markReply(state.workers, input) },
				context,
			);
		case "time-passed":
			return (
				leaveIfTooLate(state, context) ??
				leaveIfDue(state, context) ??
				onPaused(state, input, context) ??
				killDue(state, context) ??
				termIfDue(state, context) ??
				goOnIfGone(state, context)
			);
		case "stop-asked":
			return leaveInstead(state, input, context);
		case "session-lost":
			return fenced(state, input, context);
		default:
			return input satisfies never;
	}
}

/** Its workers must be dead before others may run without this agent: also those that were to keep their time. */
function fenced(
	state: Stopping,
	{ fenceAt, reason }: AgentInput & { kind: "session-lost" },
	context: TransitionContext,
): Transition {
	const mustEnd = (worker: WorkerSlot) =>
		isEnding(worker) ||
		isUnexplained(worker) ||
		(isHolding(state) && worker.status === "running");
	const workers = state.workers.map((worker) =>
		mustEnd(worker) ? toEnd(worker, fenceAt) : worker,
	);
	const after = { ...state, fencedIn: cutOffIn(state), workers };
	if (!isHolding(state)) return ignore(after);
	const effects = tellToEnd(state.workers, workers);
	const went = goOnIfGone(after, context);
	return { state: went.state, effects: [...effects, ...went.effects], reason };
}

/** The last worker that was not ready may have become so. */
function goOnIfHeld(state: Stopping, context: TransitionContext): Transition {
	return isHolding(state) ? goOnIfGone(state, context) : ignore(state);
}

/** Its workers save before its machine goes: the end of one is no incident, and ends no other. */
function isHolding({ next }: Stopping): boolean {
	return next.kind === "leave" && next.holds !== undefined;
}

/**
 * This agent does not claim a round that has begun meanwhile: its peers must leave it at once, not only when all workers
 * are gone.
 */
function asking(state: Stopping, view: RoundView): Stopping {
	return { ...state, view, claim: Math.max(state.claim, nextClaim(view)) };
}

function leaveInstead(
	state: Stopping,
	{
		exitCode,
		reason,
		immediately,
		signal,
	}: AgentInput & { kind: "stop-asked" },
	context: TransitionContext,
): Transition {
	// If it was asked before, the first request stays the reason.
	const next: Next =
		state.next.kind === "leave" && state.next.departure !== "recreated"
			? { ...state.next, holds: undefined, isByNotice: undefined }
			: {
					...{ kind: "leave" as const, exitCode, reason, leaveBy: null },
					...{ isAsked: true, isLate: isMember(state) },
				};
	const leaving: Stopping = { ...state, next };
	if (state.next.kind === "leave" && state.next.holds && !immediately) {
		const stopped = stop(leaving, next, reason, context);
		return signalFirst(stopped, signal, context);
	}
	if (!immediately) {
		const went = goOnIfGone(leaving, context);
		return signalFirst({ ...went, reason }, signal, context);
	}
	if (living(state.workers).length === 0) {
		return close(state, leftWith(next.exitCode, next.reason, next.root));
	}
	const plan = withGrace(state, next, context);
	return kill(endAll(leaving, plan, reason).state, reason, context);
}
