import type { WorldChangeEvent } from "../../channel/events.js";
import { decide } from "../../policies/check-decision.js";
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
	const decision = decide(policy.name, "scale", () =>
		change === "SCALE_UP" ? policy.onScaleUp(about) : policy.onScaleDown(about),
	);
	const { reason } = decision;
	const failing =
		decision.workers === "fail-run"
			? withFailure(state, policyFailure(reason), "nothing", 1, context)
			: state;
	const notice = { ...scaleDown(reason, context, without), change };
	return carryOut(failing, decision, notice, context);
}
