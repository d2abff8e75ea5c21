import type { WorldChangeEvent } from "../../channel/events.js";
import type { Running } from "../state.js";
import { carryOut, scaleDown } from "./carry-out.js";
import { decide } from "./decide.js";
import { policyContext, policyFailure, withFailure } from "./failure.js";
import type { Transition, TransitionContext } from "./step.js";

/** Why a round that runs is to be left. */
export interface Change {
	readonly change: WorldChangeEvent;
	readonly cause: string;
	/** The local rank of a worker that is not kept, whatever becomes of the others. */
	readonly without?: number;
}

/** The round is to be left because the world changes: the policy says how. */
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
