import { scaleDown } from "./carry-out.js";
import { fail, onOverdue } from "./fail.js";
import { goOnFrom } from "./go-on.js";
import type { AgentInput } from "./inputs.js";
import { pause } from "./pause.js";
import type { Joining, Stopping } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { dueFailure, firstFailure, whileUnexplained } from "./unexplained.js";
import { markHeard, markWaits } from "./worker-replies.js";
import { isToldToPause } from "./worker-slot.js";
import { markExited } from "./worker-slots.js";

/** In no round: its workers end, or are paused. */
type BetweenRounds = Joining | Stopping;

/** Handles inputs about paused workers; undefined for all other inputs. */
export function onPaused(
	state: BetweenRounds,
	input: AgentInput,
	context: TransitionContext,
): Transition | undefined {
	switch (input.kind) {
		case "worker-attached":
		case "worker-acknowledged":
			return goOnFrom(
				{ ...state, workers: markHeard(state.workers, input) },
				context,
			);
		case "worker-waits":
			return input.round === null
				? ignore(state)
				: goOnFrom(
						{ ...state, workers: markWaits(state.workers, input.localRank) },
						context,
					);
		case "worker-not-told":
			return isPaused(state, input.localRank)
				? endUntold(state, input, context)
				: ignore(state);
		case "worker-exited":
			return onExit(state, input, context);
		case "time-passed":
			return onTime(state, context);
		default:
			return undefined;
	}
}

function onTime(
	state: BetweenRounds,
	context: TransitionContext,
): Transition | undefined {
	const failure = dueFailure(state.workers, context.now);
	return failure === undefined
		? onOverdue(state, context)
		: fail(state, failure, context);
}

/** A kept worker has ended: that is a failure, unless it had just finished its work. */
function onExit(
	state: BetweenRounds,
	input: AgentInput & { kind: "worker-exited" },
	context: TransitionContext,
): Transition | undefined {
	const { localRank, exitCode } = input;
	if (!isPaused(state, localRank)) return undefined;
	const workers = markExited(state.workers, input, null);
	if (exitCode !== 0) {
		const after = { ...state, workers };
		return (
			whileUnexplained(after, input, context.now) ??
			fail(after, firstFailure(workers, input, context.now), context)
		);
	}
	const reason = `local rank ${localRank} ended while it was paused`;
	return pause(
		{ ...state, workers },
		scaleDown(reason, context, localRank),
		context,
	);
}

/** A worker that has not received its PAUSE would work on in a round that is over. */
function endUntold(
	state: BetweenRounds,
	{ localRank, problem }: AgentInput & { kind: "worker-not-told" },
	context: TransitionContext,
): Transition {
	const reason = `local rank ${localRank} cannot be told to pause: ${problem}; it is restarted`;
	const notice = scaleDown(reason, context, localRank);
	const slot = state.workers.find((worker) => worker.localRank === localRank);
	// If the lease may end soon, there is less time than usual.
	const killAt = slot?.status === "pausing" ? slot.pause.killAt : notice.killAt;
	return pause(state, { ...notice, killAt }, context);
}

function isPaused({ workers }: BetweenRounds, localRank: number): boolean {
	return workers.some(
		(worker) => worker.localRank === localRank && isToldToPause(worker),
	);
}
