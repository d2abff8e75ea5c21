import { type Active, beginStopping } from "./begin-stopping.js";
import { goOnIfGone, leavingAndHolding, tooLateFor } from "./go-on.js";
import type { AgentInput } from "./inputs.js";
import {
	isTermDue,
	killAtWith,
	leavingFor,
	type PendingNotices,
	TOO_LATE,
} from "./pending-notices.js";
import type { Joining, Running, Stopping } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { leave } from "./stop.js";
import { waiting } from "./worker-replies.js";
import { isHeld, type WorkerSlot } from "./worker-slot.js";
import { markExited, update, withoutLimit } from "./worker-slots.js";

/** Ends the workers, and then this node's part in the run, because its machine goes. */
export function leaveNow(
	state: Active,
	notices: PendingNotices,
	why: string,
	context: TransitionContext,
): Transition {
	const { exitCode, reason } = leavingFor(notices);
	const killAt = killAtWith(notices, context);
	const request = { exitCode, reason, immediately: false, isAsked: true };
	const left = leave(state, { ...request, isByNotice: true, killAt }, context);
	return { ...left, reason: `${reason}; ${why}` };
}

/**
 * The round is over for this node: the others learn that it leaves, and go on. Its workers keep their time for what they
 * want to save.
 */
export function leaveAndHold(
	state: Active,
	notices: PendingNotices,
	why: string,
	context: TransitionContext,
): Transition {
	if (!state.workers.some(isHeld)) {
		return leaveNow(state, notices, why, context);
	}
	// A wait for another round, or for its answer to PAUSE, has no end here.
	const workers = state.workers.map((worker) =>
		waiting(withoutLimit(worker), null),
	);
	const { reason } = leavingFor(notices);
	const next = leavingAndHolding(state, notices, context);
	const stopping = beginStopping(state, workers, next, reason);
	const after = goOnIfGone(stopping, context);
	return { ...after, reason: `${reason}; ${why}` };
}

/** In no round, it would have to leave the next one at once; undefined if it has time, or leaves already. */
export function leaveIfTooLate(
	state: Joining | Stopping,
	context: TransitionContext,
): Transition | undefined {
	const isLeaving = state.phase === "STOPPING" && state.next.kind === "leave";
	const notices = isLeaving ? undefined : tooLateFor(state, context);
	return notices && leaveAndHold(state, notices, TOO_LATE, context);
}

/** The time for the workers is over; undefined if it is not, or if they were told to end. */
export function leaveIfDue(
	state: Running | Stopping,
	context: TransitionContext,
): Transition | undefined {
	const { notices } = state;
	if (notices === undefined || !isTermDue(notices, context.now)) return;
	const isLeaving = state.phase === "STOPPING" && state.next.kind === "leave";
	return isLeaving
		? undefined
		: leaveNow(state, notices, "the time of the workers is over", context);
}

/** All workers of a running round may be ended. */
export function leaveIfReady(
	state: Running,
	context: TransitionContext,
): Transition | undefined {
	const { notices, workers } = state;
	if (notices === undefined || workers.some(isHeld)) return undefined;
	return leaveNow(state, notices, "all workers are ready to end", context);
}

/**
 * A worker ended while its machine goes: that is no incident. One that ended with 0 and has not read the notice may have
 * finished its work; undefined for that.
 */
export function exitAfterNotice(
	state: Running,
	notices: PendingNotices,
	exit: AgentInput & { kind: "worker-exited" },
	context: TransitionContext,
): Transition | undefined {
	const { localRank, exitCode, description } = exit;
	const slot = state.workers.find((worker) => worker.localRank === localRank);
	if (exitCode === 0 && !hasRead(slot)) return undefined;
	const workers = markExited(state.workers, exit, null);
	const why = `local rank ${localRank} ended: ${description}`;
	return leaveAndHold({ ...state, workers }, notices, why, context);
}

function hasRead(slot: WorkerSlot | undefined): boolean {
	return slot !== undefined && (slot.noticed || slot.ready);
}

type Reply = Extract<AgentInput, { kind: "worker-noticed" | "worker-ready" }>;

/** A worker has read the notice, or may be ended. */
export function markReply(
	workers: readonly WorkerSlot[],
	{ kind, localRank }: Reply,
): readonly WorkerSlot[] {
	return update(workers, localRank, (worker) =>
		kind === "worker-ready"
			? { ...worker, noticed: true, ready: true }
			: { ...worker, noticed: true },
	);
}
