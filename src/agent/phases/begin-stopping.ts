import {
	type Joining,
	type Next,
	nextClaim,
	type Running,
	type Stopping,
} from "../state.js";
import { living, paused, type WorkerSlot } from "../worker-slot.js";
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

/** The state in which those of `workers` that are not paused end. */
export function beginStopping(
	state: Active,
	workers: readonly WorkerSlot[],
	{ next, killAt }: StopPlan,
): Stopping {
	const earlier = state.phase === "STOPPING" ? state : undefined;
	return {
		phase: "STOPPING",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		round: state.round,
		seat: state.seat,
		claim: state.view === null ? state.round + 1 : nextClaim(state.view),
		workers,
		killAt: Math.min(killAt, earlier?.killAt ?? killAt),
		goneBy: earlier?.goneBy ?? null,
		next: earlier?.next.kind === "leave" ? earlier.next : next,
	};
}

/** All workers end, the paused ones as well. */
export function endAll(
	state: Active,
	plan: StopPlan,
	reason: string,
): Transition & { readonly state: Stopping } {
	// The others have been told.
	const localRanks =
		state.phase === "STOPPING" ? paused(state.workers) : living(state.workers);
	return {
		state: beginStopping(state, state.workers.map(toEnd), plan),
		effects: tell(localRanks),
		reason,
	};
}

export function tell(localRanks: readonly number[]) {
	return localRanks.length === 0
		? []
		: [{ kind: "terminate" as const, localRanks }];
}
