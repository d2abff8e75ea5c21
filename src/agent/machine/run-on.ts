import type { RoundView } from "../../rendezvous/member/membership.js";
import { leaveRound } from "./leave-round.js";
import { type Finished, nextClaim, type Running } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import type { WorkerSlot } from "./worker-slot.js";

/** Whether the round is left for another role only, so that this agent's workers need not know. */
export function isOfOthers(
	{ round: { cause } }: RoundView,
	{ failoverScope, role }: TransitionContext,
): boolean {
	return (
		failoverScope === "role" &&
		role !== undefined &&
		cause.roles !== undefined &&
		!cause.roles.includes(role)
	);
}

/** The round is left for another role: its workers run on, and it is ready for the next round at once. */
export function runOn(state: Running, view: RoundView): Transition {
	const runsOnTo = nextClaim(view);
	const { cause } = view.round;
	return {
		state: { ...state, view, runsOnTo },
		effects: [],
		reason:
			state.runsOnTo === runsOnTo
				? ""
				: `workers run on, ready for round ${runsOnTo}: ${cause.reason}`,
	};
}

/** Undefined while the round that it claims has not begun. */
export function beginNext(
	state: Running,
	view: RoundView,
	context: TransitionContext,
): Transition | undefined {
	const { round, seat } = view;
	const { runsOnTo } = state;
	if (runsOnTo === undefined || round.synced < runsOnTo) return undefined;
	// It never worked in a round that is over already.
	if (round.deprecated >= round.synced) return undefined;
	if (round.synced !== runsOnTo || !isSeat(view) || seat === null) {
		const cause = `no seat in round ${round.synced}`;
		return leaveRound(state, { change: "SCALE_DOWN", cause }, context);
	}
	const isLiving = ({ status }: WorkerSlot) => status === "running";
	const change = round.cause.changeEvent ?? "SCALE_DOWN";
	const living = state.workers.filter(isLiving);
	const ended = state.workers.filter((worker) => !isLiving(worker));
	const { runsOnTo: _, ...before } = state;
	return {
		state: {
			...{ ...before, view, seat: view.seat, round: round.synced },
			workers: state.workers.map((worker) =>
				isLiving(worker) ? toldOfRound(worker) : worker,
			),
		},
		effects: [
			{
				...{ kind: "start-workers", round, seat: view.seat },
				kept: new Map(living.map(({ localRank }) => [localRank, change])),
				ended: ended.map(({ localRank }) => localRank),
			},
		],
		reason: `round ${round.synced}: its workers run on; ${round.cause.reason}`,
	};
}

/** Its work counts in the round that goes on without it. */
export function finishInNext(
	state: Finished,
	view: RoundView,
	{ failoverScope }: TransitionContext,
): Transition | undefined {
	const { round } = view;
	const isRunning = round.synced > round.deprecated;
	if (failoverScope !== "role" || !isRunning || !isSeat(view)) return undefined;
	if (state.planId === view.seat.planId) return undefined;
	const { planId } = view.seat;
	return ignore({ ...state, view, planId, round: round.synced });
}

function isSeat(
	view: RoundView,
): view is RoundView & { seat: Running["seat"] } {
	const { seat, round } = view;
	return (
		seat !== null &&
		"planId" in seat &&
		seat.planId === round.planId &&
		seat.round === round.synced
	);
}

/** It gets an event that it need not answer. */
function toldOfRound(worker: WorkerSlot): WorkerSlot {
	const events = worker.events + 1;
	const told = { ...worker, events, heard: events };
	return told.status === "running" ? { ...told, waitsUntil: null } : told;
}
