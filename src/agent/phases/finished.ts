import type { RoundView } from "../../rendezvous/membership.js";
import { type AgentInput, type Finished, nextClaim } from "../state.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import { join } from "./joining.js";
import { ignore, type Transition } from "./step.js";

/** Its workers have all succeeded; it waits for the others of the round. */
export function onFinished(state: Finished, input: AgentInput): Transition {
	switch (input.kind) {
		case "round-seen": {
			const { view } = input;
			const { outcome, deprecated } = view.round;
			const ending =
				foreignInstance(state, view) ?? (outcome && endingOf(outcome));
			if (ending) return close({ ...state, view }, ending);
			return deprecated >= state.round
				? joinAnew(state, view)
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
			return ignore(state);
		default:
			return input satisfies never;
	}
}

function joinAnew(state: Finished, view: RoundView): Transition {
	const joined = join(state, view);
	const { reason } = view.round.cause;
	return {
		...joined,
		reason: joined.reason || `claims round ${nextClaim(view)}: ${reason}`,
	};
}
