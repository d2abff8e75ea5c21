import {
	type Joining,
	type Next,
	nextClaim,
	type Running,
	type Stopping,
} from "../state.js";
import { isEnding, type WorkerSlot } from "../worker-slot.js";
import type { Transition, TransitionContext } from "./step.js";
import { toEnd } from "./worker-slots.js";

/** An agent that may have workers to end. */
export type Active = Joining | Running | Stopping;

/** What comes after, and by when the workers must be dead. */
export interface StopPlan {
	readonly next: Next;
	readonly killAt: number;
}

/** SIGTERM now, SIGKILL when the time to end is over. */
export function withGrace(next: Next, context: TransitionContext): StopPlan {
	return { next, killAt: context.now + context.shutdownTimeoutMs };
}

/** The state in which those of `workers` that are not paused end, and why it came to that. */
export function beginStopping(
	state: Active,
	workers: readonly WorkerSlot[],
	next: Next,
	reason: string,
): Stopping {
	const isLeaving = state.phase === "STOPPING" && state.next.kind === "leave";
	return {
		phase: "STOPPING",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		fencedIn: state.fencedIn,
		round: state.round,
		seat: state.seat,
		claim: state.view === null ? state.round + 1 : nextClaim(state.view),
		workers,
		cause: state.phase === "RUNNING" ? causeOf(state, reason) : state.cause,
		next: isLeaving ? state.next : next,
		awaitsWorkersMs:
			state.phase === "STOPPING" ? state.awaitsWorkersMs : undefined,
	};
}

/** Where the others have left the round, they know why. */
function causeOf({ view, round }: Running, reason: string): string | undefined {
	return (view?.round.deprecated ?? 0) < round ? reason : undefined;
}

/** All workers end, the paused ones as well. */
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

/** SIGTERM to those that shall end and have not been told so before. */
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
