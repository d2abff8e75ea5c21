import { cutOffIn } from "./ending.js";
import type { AgentInput } from "./inputs.js";
import { leaveIfTooLate, markReply } from "./leave-by-notice.js";
import { onNotice } from "./on-notice.js";
import { onPaused } from "./paused.js";
import type { Joining } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave } from "./stop.js";
import { look } from "./take-seat.js";

/** The agent waits for a seat in the round that it claims. Its workers are gone, or paused. */
export function onJoining(
	state: Joining,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen":
			return (
				leaveIfTooLate({ ...state, view: input.view }, context) ??
				look(state, input.view, context)
			);
		case "stop-asked":
			return leave(state, { ...input, isAsked: true }, context);
		case "worker-exited":
		case "worker-attached":
		case "worker-acknowledged":
		case "worker-waits":
		case "worker-works":
		case "worker-not-told":
		case "worker-hung":
			return onPaused(state, input, context) ?? ignore(state);
		case "time-passed":
			return (
				leaveIfTooLate(state, context) ??
				onPaused(state, input, context) ??
				ignore(state)
			);
		case "noticed":
		case "notice-withdrawn":
			return onNotice(state, input, context);
		case "worker-noticed":
		case "worker-ready":
			return ignore({ ...state, workers: markReply(state.workers, input) });
		case "session-lost":
			return ignore({ ...state, fencedIn: cutOffIn(state) });
		case "worker-started":
		case "worker-not-started":
		case "worker-gone":
			return ignore(state);
		default:
			return input satisfies never;
	}
}
