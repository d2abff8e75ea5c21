import { fail } from "./fail.js";
import type { Failure } from "./note-failure.js";
import type { Running } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { markManner } from "./worker-replies.js";
import {
	hasNotGoneOn,
	isEnding,
	type WorkerSlot,
	wasLate,
} from "./worker-slot.js";

/** A worker of the running round has failed. */
export function onFailure(
	state: Running,
	failure: Failure,
	context: TransitionContext,
): Transition {
	const { localRank, unseenMs = 0 } = failure;
	const slot = state.workers.find((worker) => worker.localRank === localRank);
	const isLate =
		slot && !isEnding(slot) && hasNotGoneOn(slot, context.now - unseenMs);
	return isLate
		? diedLate(state, slot, failure, context)
		: fail(state, failure, context);
}

/** It may have died of what ended an earlier round; its node will wait for the next worker in its place. */
function diedLate(
	state: Running,
	slot: WorkerSlot,
	failure: Failure,
	context: TransitionContext,
): Transition {
	const now = context.now - (failure.unseenMs ?? 0);
	const { localRank, lingering } = slot;
	const lateMs = now - (lingering?.since ?? now);
	const workers = markManner(state.workers, localRank, "died", lateMs);
	const late = { ...failure, isLateAgain: wasLate(slot) };
	return fail({ ...state, workers }, late, context);
}
