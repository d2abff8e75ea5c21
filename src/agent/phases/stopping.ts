import { EXIT_CODES } from "../../errors.js";
import {
	type AgentInput,
	type Next,
	nextClaim,
	type Running,
	remaining,
	type Stopping,
	type WorkerSlot,
} from "../state.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import { join } from "./joining.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { markExited, markGone, markStarted } from "./worker-slots.js";

/** How long a killed process may take to vanish before it is given up, in milliseconds. */
export const UNKILLABLE_AFTER_MS = 5_000;

/** How late a timer may be before the agent itself must have been frozen, in milliseconds. */
const LATE_MS = 1_000;

/** How long an agent that leaves waits for its round to be left, in milliseconds. */
const LEAVE_PATIENCE_MS = 2_000;

interface Stop {
	readonly exitCode: number;
	readonly reason: string;
	readonly immediately: boolean;
}

/** Its workers have been told to end; what comes then is in `next`. */
export function onStopping(
	state: Stopping,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen":
			return goOnIfGone({ ...state, view: input.view }, context);
		case "worker-exited":
			return ignore({
				...state,
				workers: markExited(state.workers, input, null),
			});
		case "worker-started":
			return ignore({ ...state, workers: markStarted(state.workers, input) });
		case "worker-not-started":
			return ignore(state);
		case "worker-gone":
			return goOnIfGone(
				{ ...state, workers: markGone(state.workers, input.localRank) },
				context,
			);
		case "time-passed":
			return onDeadline(state, context);
		case "stop-asked":
			return leaveInstead(state, input, context);
		case "session-lost":
			return ignore({
				...state,
				killAt: state.killAt && Math.min(state.killAt, input.fenceAt),
			});
		default:
			return input satisfies never;
	}
}

/** Ends the workers of the round: SIGTERM now, SIGKILL when their time is over. */
export function stop(
	state: Running,
	next: Next,
	reason: string,
	context: TransitionContext,
	killAt = context.now + context.shutdownTimeoutMs,
): Transition {
	const localRanks = remaining(state.workers);
	const stopping: Stopping = {
		phase: "STOPPING",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		round: state.round,
		claim: state.view === null ? state.round + 1 : nextClaim(state.view),
		workers: state.workers,
		killAt,
		goneBy: null,
		next,
	};
	const after = goOnIfGone(stopping, context);
	return {
		state: after.state,
		effects: [
			...(localRanks.length > 0
				? [{ kind: "terminate" as const, localRanks }]
				: []),
			...after.effects,
		],
		reason,
	};
}

/** Ends the workers, and then this node's part in the run. */
export function leave(
	state: Running,
	asked: Stop,
	context: TransitionContext,
): Transition {
	const { exitCode, reason } = asked;
	const next: Next = { kind: "leave", exitCode, reason, leaveBy: null };
	const stopped = stop(state, next, reason, context);
	return asked.immediately && stopped.state.phase === "STOPPING"
		? killNow(stopped.state, reason, context)
		: stopped;
}

function leaveInstead(
	state: Stopping,
	asked: Stop,
	context: TransitionContext,
): Transition {
	const { exitCode, reason } = asked;
	const leaving: Stopping = {
		...state,
		next:
			state.next.kind === "leave"
				? state.next
				: { kind: "leave", exitCode, reason, leaveBy: null },
	};
	if (!asked.immediately) return { ...goOnIfGone(leaving, context), reason };
	return remaining(state.workers).length === 0
		? close(state, leftWith(exitCode, reason))
		: killNow(leaving, reason, context);
}

function onDeadline(state: Stopping, context: TransitionContext): Transition {
	const { now } = context;
	if (state.killAt !== null && now >= state.killAt) {
		return killNow(state, "the time to end is over", context);
	}
	if (state.goneBy !== null && now >= state.goneBy) {
		if (wasFrozen(state.goneBy, now)) {
			return ignore({ ...state, goneBy: now + UNKILLABLE_AFTER_MS });
		}
		return close(
			state,
			leftWith(EXIT_CODES.replaceNode, stuckReason(state.workers)),
		);
	}
	return goOnIfGone(state, context);
}

/** Who comes so late to its deadline has not heard yet what ended meanwhile. */
export function wasFrozen(deadline: number, now: number): boolean {
	return now - deadline > LATE_MS;
}

/** Names the processes that even SIGKILL has not ended. */
export function stuckReason(workers: readonly WorkerSlot[]): string {
	const pids = workers
		.filter(({ status }) => status !== "gone")
		.map(({ localRank, pid }) => `pid ${pid ?? "?"} (local rank ${localRank})`);
	return `not gone ${UNKILLABLE_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel: ${pids.join(", ")}`;
}

function killNow(
	state: Stopping,
	reason: string,
	context: TransitionContext,
): Transition {
	const localRanks = remaining(state.workers);
	return {
		state: {
			...state,
			killAt: null,
			goneBy: context.now + UNKILLABLE_AFTER_MS,
		},
		effects: [{ kind: "kill", localRanks }],
		reason: `SIGKILL: ${reason}`,
	};
}

/** Once no worker is left: the run's outcome, else the next round or the door. */
function goOnIfGone(state: Stopping, context: TransitionContext): Transition {
	if (remaining(state.workers).length > 0) return ignore(state);
	const { view, next } = state;
	const foreign = view === null ? undefined : foreignInstance(state, view);
	const ending =
		foreign ?? (view?.round.outcome ? endingOf(view.round.outcome) : undefined);
	if (ending !== undefined) return close(state, ending);
	if (next.kind === "leave") return leaveWhenSeen(state, next, context);
	if (view === null) return ignore(state);
	const joined = join(state, view);
	return {
		...joined,
		reason:
			joined.reason || `its workers are gone: claims round ${nextClaim(view)}`,
	};
}

/** The others must know that this node's round is over before its lease goes. */
function leaveWhenSeen(
	state: Stopping,
	next: Next & { kind: "leave" },
	{ now }: TransitionContext,
): Transition {
	const seen = (state.view?.round.deprecated ?? 0) >= state.round;
	if (seen || (next.leaveBy !== null && now >= next.leaveBy)) {
		return close(state, leftWith(next.exitCode, next.reason));
	}
	const leaveBy = next.leaveBy ?? now + LEAVE_PATIENCE_MS;
	return ignore({
		...state,
		killAt: null,
		goneBy: null,
		next: { ...next, leaveBy },
	});
}
