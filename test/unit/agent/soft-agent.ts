import { transition } from "../../../src/agent/machine/decide.js";
import type {
	AgentInput,
	TransitionContext,
} from "../../../src/agent/machine/inputs.js";
import {
	type AgentState,
	INITIAL_STATE,
} from "../../../src/agent/machine/state.js";
import { SoftRestartPolicyStrategy } from "../../../src/policies/built-in.js";
import type {
	RoundCause,
	RoundRecord,
	SeatRecord,
} from "../../../src/rendezvous/records/records.js";
import { roundRecord, seatRecord, WORLD } from "../../helpers/run-view.js";

/** At a time in milliseconds; under the policy soft unless another one is given. */
export function contextAt(
	now = 1_000,
	policy: TransitionContext["policy"] = new SoftRestartPolicyStrategy(),
): TransitionContext {
	return {
		now,
		wallTime: 5,
		runId: "r",
		nodeId: "a",
		incarnation: "a-1",
		policy,
		maxRestarts: 3,
		shutdownTimeoutMs: 30_000,
		pauseTimeoutMs: 60_000,
		rules: [],
		isRecreated: false,
	};
}

export const LEFT: RoundCause = {
	kind: "scale-down",
	changeEvent: "SCALE_DOWN",
	reason: "b left: lease expired",
	root: null,
};
export const JOINED: RoundCause = {
	...LEFT,
	kind: "scale-up",
	changeEvent: "SCALE_UP",
	reason: "joining: c",
};
export const TIME: AgentInput = { kind: "time-passed" };

function seatIn(round: number, localWorldSize: number): SeatRecord {
	const planId = `plan-${round}`;
	return { ...seatRecord("a"), round, planId, localWorldSize };
}

/** The round with a seat of this node in it. */
export function seen(
	round: number,
	change: Partial<RoundRecord> = {},
	localWorldSize = 2,
): AgentInput & { kind: "round-seen" } {
	const record = roundRecord({
		synced: round,
		planId: `plan-${round}`,
		seats: 2,
		world: WORLD,
		...change,
	});
	const seat = seatIn(round, localWorldSize);
	return { kind: "round-seen", view: { round: record, seat } };
}

export const left = (round: number, cause: RoundCause = LEFT) =>
	seen(round, { deprecated: round, cause });

export const greeted = (localRank: number): AgentInput => ({
	kind: "worker-attached",
	localRank,
});

export const acknowledged = (localRank: number, event: number): AgentInput => ({
	kind: "worker-acknowledged",
	localRank,
	event,
});

/** It waits for a round after this one. */
export const waits = (localRank: number, round: number): AgentInput => ({
	kind: "worker-waits",
	localRank,
	round,
});

export const works = (localRank: number, round: number): AgentInput => ({
	kind: "worker-works",
	localRank,
	round,
});

export const STOP = {
	kind: "stop-asked",
	exitCode: 143,
	reason: "SIGTERM",
	immediately: false,
} satisfies AgentInput;

export const gone = (localRank: number): AgentInput => ({
	kind: "worker-gone",
	localRank,
});

/** Its leader has ended; `groupRemains`: and has left others behind. */
export const exited = (
	localRank: number,
	exitCode: number,
	groupRemains = false,
): AgentInput => ({
	kind: "worker-exited",
	localRank,
	pid: 100 + localRank,
	exit: { code: exitCode, signal: null, signalledByAgent: false, uptimeMs: 10 },
	exitCode,
	description: `exit code ${exitCode}`,
	hint: undefined,
	error: undefined,
	groupRemains,
});

/** Folds inputs, and gives the last transition. */
export function play(
	inputs: readonly AgentInput[],
	from: AgentState = INITIAL_STATE,
	where = contextAt(),
) {
	let state = from;
	let last = transition(state, TIME, where);
	for (const input of inputs) {
		last = transition(state, input, where);
		state = last.state;
	}
	return last;
}

/** Two workers that listen run round 1. */
export const RUNNING = play([seen(0), seen(1), greeted(0), greeted(1)]).state;
/** They are told to pause, because another node has gone. */
export const PAUSING = play([left(1)], RUNNING).state;
/** They have acknowledged that. */
export const PAUSED = play(
	[acknowledged(0, 2), acknowledged(1, 2)],
	PAUSING,
).state;
