import { EXIT_CODES } from "../../errors.js";
import type { RoundView } from "../../rendezvous/membership.js";
import {
	type AgentInput,
	type Finished,
	type Running,
	remaining,
} from "../state.js";
import { decide } from "./decide.js";
import { foreignInstance } from "./ending.js";
import {
	type Failure,
	notStarted,
	policyContext,
	policyFailure,
	withFailure,
} from "./failure.js";
import { endLeftovers } from "./leftovers.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave, stop } from "./stopping.js";
import { markExited, markGone, markStarted } from "./worker-slots.js";

/** Its workers run the round that it has a seat in. */
export function onRunning(
	state: Running,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen":
			return look({ ...state, view: input.view }, input.view, context);
		case "worker-started":
			return ignore({ ...state, workers: markStarted(state.workers, input) });
		case "worker-exited":
			return onExit(state, input, context);
		case "worker-not-started":
			return fail(state, notStarted(input), context);
		case "worker-gone":
			return finishIfDone({
				...state,
				workers: markGone(state.workers, input.localRank),
			});
		case "time-passed":
			return endLeftovers(state, context);
		case "stop-asked":
			return leave(state, input, context);
		case "session-lost":
			return stop(
				state,
				{ kind: "rejoin" },
				input.reason,
				context,
				Math.min(input.fenceAt, context.now + context.shutdownTimeoutMs),
			);
		default:
			return input satisfies never;
	}
}

function look(
	state: Running,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const foreign = foreignInstance(state, view);
	if (foreign !== undefined) {
		return leave(state, { ...foreign, immediately: false }, context);
	}
	const { outcome, deprecated, cause } = view.round;
	if (outcome !== null) {
		return stop(state, { kind: "rejoin" }, outcome.reason, context);
	}
	if (deprecated < state.round) return ignore(state);
	return applyToChange(state, cause.changeEvent, cause.reason, context);
}

/** The round is to be left because the world changes: the policy says how. */
function applyToChange(
	state: Running,
	changeEvent: "SCALE_UP" | "SCALE_DOWN" | null,
	cause: string,
	context: TransitionContext,
): Transition {
	const { policy } = context;
	const about = policyContext(state, cause, context);
	const decision = decide(policy.name, () =>
		changeEvent === "SCALE_UP"
			? policy.onScaleUp(about)
			: policy.onScaleDown(about),
	);
	if (decision.workers === "leave") {
		const exitCode = EXIT_CODES.replaceNode;
		const { reason } = decision;
		return leave(state, { exitCode, reason, immediately: false }, context);
	}
	const failing =
		decision.workers === "fail-run"
			? withFailure(
					state,
					policyFailure(decision.reason),
					"nothing",
					1,
					context,
				)
			: state;
	return stop(failing, { kind: "rejoin" }, decision.reason, context);
}

function onExit(
	state: Running,
	input: AgentInput & { kind: "worker-exited" },
	context: TransitionContext,
): Transition {
	const killAt = context.now + context.shutdownTimeoutMs;
	const workers = markExited(state.workers, input, killAt);
	if (input.exitCode !== 0) {
		return fail({ ...state, workers }, input, context);
	}
	return {
		state: { ...state, workers },
		effects: input.groupRemains
			? [{ kind: "terminate", localRanks: [input.localRank] }]
			: [],
		reason: "",
	};
}

/** One of its own workers failed: it reports and stops; the coordinator charges. */
function fail(
	state: Running,
	failure: Failure,
	context: TransitionContext,
): Transition {
	const { policy } = context;
	const rank = state.seat.firstRank + failure.localRank;
	const cause = `rank ${rank} failed: ${failure.description}`;
	if (failure.failsRun !== undefined) {
		const failed = withFailure(
			state,
			failure,
			"nothing",
			failure.failsRun,
			context,
		);
		return stop(failed, { kind: "rejoin" }, cause, context);
	}
	const decision = decide(policy.name, () =>
		policy.onWorkerFailure({
			...policyContext(state, cause, context),
			rank,
			localRank: failure.localRank,
			role: state.seat.role,
			exitCode: failure.exitCode,
			signal: failure.exit?.signal ?? null,
			uptimeMs: failure.exit?.uptimeMs ?? 0,
			errorMessage: failure.error?.message,
		}),
	);
	const failsRun = decision.workers === "fail-run" ? EXIT_CODES.failed : null;
	const failed = withFailure(
		state,
		failure,
		decision.charge,
		failsRun,
		context,
	);
	const reason =
		decision.reason === cause ? cause : `${cause}; ${decision.reason}`;
	return decision.workers === "leave"
		? leave(
				failed,
				{ exitCode: EXIT_CODES.replaceNode, reason, immediately: false },
				context,
			)
		: stop(failed, { kind: "rejoin" }, reason, context);
}

function finishIfDone(state: Running): Transition {
	if (remaining(state.workers).length > 0) return ignore(state);
	const finished: Finished = {
		phase: "FINISHED",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		round: state.round,
		planId: state.seat.planId,
	};
	return { state: finished, effects: [], reason: "all workers succeeded" };
}
