import { EXIT_CODES } from "../../base/errors.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import type { SeatRecord } from "../../rendezvous/records/records.js";
import { endAll, withGrace } from "./begin-stopping.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import type { AgentEffect } from "./inputs.js";
import { hasHadItsRound, recreate } from "./recreate.js";
import {
	type Ending,
	type Finished,
	type Joining,
	nextClaim,
	type Running,
	type Stopping,
} from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { tellNotice } from "./tell-notice.js";
import { freshSlot, paused, type WorkerSlot } from "./worker-slot.js";
import { toWorking } from "./worker-slots.js";

/** Claims the next round, and takes a seat in it if the view already has one. */
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
		notices: state.notices,
		round: state.round,
		seat: left.seat,
		workers: left.workers,
		cause: left.cause,
		claim: nextClaim(view),
	};
	return look(claimed, view, context);
}

/** Takes the seat that the view has for this agent, or claims another round. */
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
	if (valid && round.synced === state.claim) {
		return hasHadItsRound(state, context)
			? recreate({ ...state, round: round.synced, seat }, context)
			: run(state, view, seat);
	}
	const reason = `no seat in round ${round.synced}: waits as a spare`;
	const claimed = claimAnew(state, view, reason);
	return { ...claimed, effects: wordsToCutOff(state) };
}

/** A node that lost its place because it was cut off learns why. The shell suppresses repeated warnings. */
function wordsToCutOff({ round, fencedIn }: Joining): readonly AgentEffect[] {
	if (fencedIn === undefined || fencedIn !== round) return [];
	const message = `this node was cut off from etcd in round ${round}, so the others went on without it; it waits as a spare until a round has a place for it. If a node has finished its work by now, no further round begins, and this node runs nothing until the end`;
	return [{ kind: "warn", message }];
}

/** Kept workers end first. */
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
	return endAll(state, withGrace(state, next, context), reason);
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

/** Paused workers continue in the round; missing ones are started. */
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
		notices: state.notices,
		round: round.synced,
		seat,
		workers,
	};
	const changes = kept.map(
		({ localRank, change }) => [localRank, change ?? "SCALE_DOWN"] as const,
	);
	const fresh = workers
		.map(({ localRank }) => localRank)
		.filter((localRank) => kept.every((one) => one.localRank !== localRank));
	return {
		state: running,
		effects: [
			{ kind: "start-workers", round, seat, kept: new Map(changes) },
			// No signal: it would end a process that has just been started.
			...tellNotice(running, false, fresh),
		],
		reason: `round ${round.synced}: ${describeRanks(seat)} of ${round.world?.worldSize ?? 0}`,
	};
}

function describeRanks(seat: SeatRecord): string {
	const last = seat.firstRank + seat.localWorldSize - 1;
	return seat.localWorldSize === 1
		? `rank ${last}`
		: `ranks ${seat.firstRank}-${last}`;
}
