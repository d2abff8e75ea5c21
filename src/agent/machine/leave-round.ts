import type { WorldChangeEvent } from "../../channel/events.js";
import { decide } from "../../policies/check-decision.js";
import type { RestartDecision } from "../../policies/strategy.js";
import { carryOut, scaleDown } from "./carry-out.js";
import { policyContext, policyFailure, withFailure } from "./note-failure.js";
import type { Running } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";

/** Why a running round must be left. */
export interface Change {
	readonly change: WorldChangeEvent;
	readonly cause: string;
	/** The local rank of a worker that is not kept, whatever happens to the others. */
	readonly without?: number;
}

/** Leaves the round because the world changes, as the policy decides. */
export function leaveRound(
	state: Running,
	{ change, cause, without }: Change,
	context: TransitionContext,
): Transition {
	const { policy } = context;
	const about = policyContext(state, cause, context);
	const decided = decide(policy.name, "scale", () =>
		change === "SCALE_UP" ? policy.onScaleUp(about) : policy.onScaleDown(about),
	);
	const decision = onRung(decided, state);
	const { reason } = decision;
	const failing =
		decision.workers === "fail-run"
			? withFailure(state, policyFailure(reason), "nothing", 1, context)
			: state;
	const notice = { ...scaleDown(reason, context, without), change };
	return carryOut(failing, decision, notice, context);
}

/** Where the run escalates, the rung of a failure says what happens to the workers of other nodes. */
function onRung(
	decided: RestartDecision,
	{ view, round: own }: Running,
): RestartDecision {
	const { deprecated = 0, cause, escalation } = view?.round ?? {};
	const { workers } = decided;
	const isFailure = deprecated >= own && cause?.kind === "failure";
	const isRestart = workers === "pause" || workers === "restart";
	if (escalation === undefined || !isFailure || !isRestart) return decided;
	return {
		...decided,
		workers: escalation.rung === "soft" ? "pause" : "restart",
	};
}
