import { EXIT_CODES } from "../../errors.js";
import type { RoundView } from "../../rendezvous/membership.js";
import type { SeatRecord } from "../../rendezvous/records.js";
import {
	type Ending,
	type Finished,
	type Joining,
	nextClaim,
	type Running,
	type Stopping,
} from "../state.js";
import { freshSlot, paused, type WorkerSlot } from "../worker-slot.js";
import { endAll, withGrace } from "./begin-stopping.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import type { Transition, TransitionContext } from "./step.js";
import { toWorking } from "./worker-slots.js";

/** Wants the next round, and takes the seat in it if the view has one already. */
export function join(
	state: Stopping | Finished,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const left =
		state.phase === "STOPPING"
			? state
			: { seat: null, workers: [], cause: undefined };
	const claimed: Joining = {
		phase: "JOINING",
		view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		fencedIn: state.fencedIn,
		round: state.round,
		seat: left.seat,
		workers: left.workers,
		cause: left.cause,
		claim: nextClaim(view),
	};
	return look(claimed, view, context);
}

/** Takes the seat that the view has for this agent, or wants another round. */
export function look(
	before: Joining,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const { round, seat } = view;
	const state = {
		...before,
		view,
		instance: before.instance ?? round.instance,
	};
	const foreign = foreignInstance(before, view);
	if (foreign) return end(state, foreign, context);
	if (round.outcome) return end(state, endingOf(round.outcome), context);
	if (seat !== null && "refused" in seat) {
		const { replaceNode } = EXIT_CODES;
		const root = state.failure?.failure;
		return end(state, leftWith(replaceNode, seat.refused, root), context);
	}
	if (round.deprecated >= state.claim) {
		return claimAnew(state, view, round.cause.reason);
	}
	if (round.synced < state.claim) return { state, effects: [], reason: "" };
	const valid =
		seat !== null &&
		seat.planId === round.planId &&
		seat.round === round.synced;
	return valid && round.synced === state.claim
		? run(state, view, seat)
		: claimAnew(
				state,
				view,
				`no seat in round ${round.synced}: waits as a spare`,
			);
}

/** Workers that were kept are ended first. */
function end(
	state: Joining,
	ending: Ending,
	context: TransitionContext,
): Transition {
	if (paused(state.workers).length === 0) return close(state, ending);
	const { exitCode, reason, root } = ending;
	const next =
		ending.outcome === "left"
			? ({ kind: "leave", exitCode, reason, root, leaveBy: null } as const)
			: ({ kind: "rejoin" } as const);
	return endAll(state, withGrace(next, context), reason);
}

function claimAnew(
	state: Joining,
	view: RoundView,
	reason: string,
): Transition {
	const claim = nextClaim(view);
	const isFirst = state.claim === 0;
	return {
		state: { ...state, claim, cause: undefined },
		effects: [],
		reason: `claims round ${claim}${isFirst ? "" : `: ${reason}`}`,
	};
}

/** Paused workers go on in the round; those that are not there are started. */
function run(state: Joining, view: RoundView, seat: SeatRecord): Transition {
	const { round } = view;
	const kept = state.workers.filter(({ status }) => status === "paused");
	const workers: WorkerSlot[] = Array.from(
		{ length: seat.localWorldSize },
		(_, localRank) => {
			const former = state.workers.find((one) => one.localRank === localRank);
			return former?.status === "paused"
				? toWorking(former)
				: freshSlot(localRank, former);
		},
	);
	const running: Running = {
		phase: "RUNNING",
		view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		fencedIn: state.fencedIn,
		round: round.synced,
		seat,
		workers,
	};
	const changes = kept.map(
		({ localRank, change }) => [localRank, change ?? "SCALE_DOWN"] as const,
	);
	return {
		state: running,
		effects: [{ kind: "start-workers", round, seat, kept: new Map(changes) }],
		reason: `round ${round.synced}: ${describeRanks(seat)} of ${round.world?.worldSize ?? 0}`,
	};
}

function describeRanks(seat: SeatRecord): string {
	const last = seat.firstRank + seat.localWorldSize - 1;
	return seat.localWorldSize === 1
		? `rank ${last}`
		: `ranks ${seat.firstRank}-${last}`;
}
