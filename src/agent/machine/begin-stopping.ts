import { inTime } from "./pending-notices.js";
import {
	type Joining,
	type Next,
	nextClaim,
	type Running,
	type Stopping,
} from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { isEnding, type WorkerSlot } from "./worker-slot.js";
import { toEnd } from "./worker-slots.js";

/** An agent that may have workers to end. */
export type Active = Joining | Running | Stopping;

/** What comes next, and by when the workers must be dead. */
export interface StopPlan {
	readonly next: Next;
	readonly killAt: number;
}

/** SIGTERM now, SIGKILL when the grace period is over, or the machine goes. */
export function withGrace(
	{ notices }: Active,
	next: Next,
	context: TransitionContext,
): StopPlan {
	const killAt = context.now + context.shutdownTimeoutMs;
	return { next, killAt: inTime(killAt, notices, context) };
}

/** The state in which the workers that are not paused end, and the reason. */
export function beginStopping(
	state: Active,
	workers: readonly WorkerSlot[],
	next: Next,
	reason: string,
): Stopping {
	const isLeaving =
		state.phase === "STOPPING" &&
		state.next.kind === "leave" &&
		state.next.departure !== "recreated";
	return {
		phase: "STOPPING",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		fencedIn: state.fencedIn,
		notices: state.notices,
		round: state.round,
		seat: state.seat,
		claim: state.view === null ? state.round + 1 : nextClaim(state.view),
		workers,
		cause: state.phase === "RUNNING" ? causeOf(state, reason) : state.cause,
		next: isLeaving ? state.next : next,
		awaitsWorkersMs:
			state.phase === "STOPPING" ? state.awaitsWorkersMs : undefined,
		termLater: state.phase === "STOPPING" ? state.termLater : undefined,
	};
}

/** If the others have left the round, they know why. */
function causeOf({ view, round }: Running, reason: string): string | undefined {
	return (view?.round.deprecated ?? 0) < round ? reason : undefined;
}

/** Ends all workers, including paused ones. */
export function endAll(
	state: Active,
	{ next, killAt }: StopPlan,
	reason: string,
): Transition & { readonly state: Stopping } {
	const workers = state.workers.map((worker) => toEnd(worker, killAt));
	return {
		state: beginStopping(state, workers, next, reason),
		effects: tellToEnd(state.workers, workers),
		reason,
	};
}

/** SIGTERM for the workers that must end and have not received it yet. */
export function tellToEnd(
	before: readonly WorkerSlot[],
	after: readonly WorkerSlot[],
) {
	const told = before.filter(isEnding).map(({ localRank }) => localRank);
	const localRanks = after
		.filter(isEnding)
		.map(({ localRank }) => localRank)
		.filter((localRank) => !told.includes(localRank));
	return localRanks.length === 0
		? []
		: [{ kind: "terminate" as const, localRanks }];
}
