import { EXIT_CODES } from "../../errors.js";
import type { RoundView } from "../../rendezvous/membership.js";
import type { SeatRecord } from "../../rendezvous/records.js";
import {
	type AgentInput,
	type AgentState,
	type Joining,
	nextClaim,
	type Running,
	type WorkerSlot,
} from "../state.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import { ignore, type Transition } from "./step.js";

/** It has no workers, and wants a seat in the round that it claims. */
export function onJoining(state: Joining, input: AgentInput): Transition {
	switch (input.kind) {
		case "round-seen":
			return look(state, input.view);
		case "stop-asked":
			return close(state, leftWith(input.exitCode, input.reason));
		case "session-lost":
		case "time-passed":
		case "worker-started":
		case "worker-exited":
		case "worker-not-started":
		case "worker-gone":
			return ignore(state);
		default:
			return input satisfies never;
	}
}

/** Wants the next round, and takes the seat in it if the view has one already. */
export function join(state: AgentState, view: RoundView): Transition {
	const claimed: Joining = {
		phase: "JOINING",
		view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		claim: nextClaim(view),
	};
	return look(claimed, view);
}

function look(before: Joining, view: RoundView): Transition {
	const { round, seat } = view;
	const state = {
		...before,
		view,
		instance: before.instance ?? round.instance,
	};
	const foreign = foreignInstance(before, view);
	const ending = foreign ?? (round.outcome && endingOf(round.outcome));
	if (ending) return close(state, ending);
	if (seat !== null && "refused" in seat) {
		return close(state, leftWith(EXIT_CODES.replaceNode, seat.refused));
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
		? start(state, view, seat)
		: claimAnew(
				state,
				view,
				`no seat in round ${round.synced}: waits as a spare`,
			);
}

function claimAnew(
	state: Joining,
	view: RoundView,
	reason: string,
): Transition {
	const claim = nextClaim(view);
	const isFirst = state.claim === 0;
	return {
		state: { ...state, claim },
		effects: [],
		reason: `claims round ${claim}${isFirst ? "" : `: ${reason}`}`,
	};
}

function start(state: Joining, view: RoundView, seat: SeatRecord): Transition {
	const { round } = view;
	const workers: WorkerSlot[] = Array.from(
		{ length: seat.localWorldSize },
		(_, localRank) => ({
			localRank,
			pid: null,
			status: "running",
			killAt: null,
		}),
	);
	const running: Running = {
		phase: "RUNNING",
		view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		round: round.synced,
		seat,
		workers,
	};
	return {
		state: running,
		effects: [{ kind: "start-workers", round, seat }],
		reason: `round ${round.synced}: ${describeRanks(seat)} of ${round.world?.worldSize ?? 0}`,
	};
}

function describeRanks(seat: SeatRecord): string {
	const last = seat.firstRank + seat.localWorldSize - 1;
	return seat.localWorldSize === 1
		? `rank ${last}`
		: `ranks ${seat.firstRank}-${last}`;
}
