import type { RoundView } from "../../rendezvous/membership.js";
import type { AgentInput } from "../inputs.js";
import { type Finished, nextClaim } from "../state.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { join } from "./take-seat.js";

/** Its workers have all succeeded; it waits for the others of the round. */
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
			const stays = context.policy.finishedNodes === "stay";
			return deprecated >= state.round && !stays
				? joinAnew(state, view, context)
				: ignore({ ...state, view });
		}
		case "stop-asked":
			return close(state, leftWith(input.exitCode, input.reason));
		case "session-lost":
		case "time-passed":
		case "worker-started":
		case "worker-exited":
		case "worker-not-started":
		case "worker-gone":
		case "worker-greeted":
		case "worker-acknowledged":
		case "worker-waits":
		case "worker-not-told":
			return ignore(state);
		default:
			return input satisfies never;
	}
}

function joinAnew(
	state: Finished,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const joined = join(state, view, context);
	const { reason } = view.round.cause;
	return {
		...joined,
		reason: joined.reason || `claims round ${nextClaim(view)}: ${reason}`,
	};
}
