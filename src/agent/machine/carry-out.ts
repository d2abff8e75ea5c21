import { EXIT_CODES } from "../../base/errors.js";
import type { Verdict } from "../../policies/rules/rule.js";
import type { Active } from "./begin-stopping.js";
import { type PauseCall, pause } from "./pause.js";
import type { Transition, TransitionContext } from "./step.js";
import { leave, stop } from "./stop.js";

/** Carries out the decision of a policy or a rule. */
export function carryOut(
	state: Active,
	{ workers, exitCode = EXIT_CODES.replaceNode, departure }: Verdict,
	notice: PauseCall,
	context: TransitionContext,
): Transition {
	const { reason, killAt } = notice;
	switch (workers) {
		case "restart":
		case "fail-run":
			return stop(state, { kind: "rejoin" }, reason, context, killAt);
		case "pause":
		case "replace-failed":
			return pause(state, notice, context);
		case "leave": {
			const failure = notice.failed === undefined ? null : state.failure;
			const root = failure?.failure ?? null;
			const request = { exitCode, reason, root, immediately: false };
			if (departure) return leave(state, { ...request, departure }, context);
			return leave(state, request, context);
		}
		default:
			return workers satisfies never;
	}
}

/** For the other workers a failure is a scale-down, with the usual grace period. */
export function scaleDown(
	reason: string,
	{ now, shutdownTimeoutMs }: TransitionContext,
	failed?: number,
): PauseCall {
	const killAt = now + shutdownTimeoutMs;
	return failed === undefined
		? { change: "SCALE_DOWN", reason, killAt }
		: { change: "SCALE_DOWN", reason, killAt, failed };
}
