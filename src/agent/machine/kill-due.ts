import { EXIT_CODES } from "../../base/errors.js";
import { close, leftWith } from "./ending.js";
import { kill, UNKILLABLE_AFTER_MS } from "./kill.js";
import type { Next, Running, Stopping } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave, stop } from "./stop.js";
import { deadlinesOf, living, type WorkerSlot } from "./worker-slot.js";
import { isDue, markGone, toKilled } from "./worker-slots.js";

/** If a timer is later than this, the agent itself was frozen, in milliseconds. */
const LATE_MS = 1_000;

/** Kills workers whose grace period is over, and gives up those that survive even that. Undefined if none is due. */
export function killDue(
	state: Running | Stopping,
	context: TransitionContext,
): Transition | undefined {
	const { now } = context;
	const stuck = state.workers.filter((worker) =>
		isDue(deadlinesOf(worker).goneBy, now),
	);
	if (stuck.some((worker) => wasFrozen(deadlinesOf(worker).goneBy, now))) {
		return waitOnceMore(state, stuck, now + UNKILLABLE_AFTER_MS);
	}
	if (stuck.length > 0) return giveUp(state, stuck, context);
	const due = state.workers.filter((worker) =>
		isDue(deadlinesOf(worker).killAt, now),
	);
	if (due.length === 0) return undefined;
	const localRanks = due.map(({ localRank }) => localRank);
	return kill(state, "the time to end is over", context, localRanks);
}

/** An agent so late for its deadline has not heard yet which workers have ended meanwhile. */
function wasFrozen(deadline: number | null, now: number): boolean {
	return deadline !== null && now - deadline > LATE_MS;
}

function waitOnceMore(
	state: Running | Stopping,
	stuck: readonly WorkerSlot[],
	goneBy: number,
): Transition {
	const workers = state.workers.map((worker) =>
		stuck.includes(worker) ? toKilled(worker, goneBy) : worker,
	);
	return ignore({ ...state, workers });
}

/** A process that survives SIGKILL is a reason to replace the node; its other workers end first. */
function giveUp(
	state: Running | Stopping,
	stuck: readonly WorkerSlot[],
	context: TransitionContext,
): Transition {
	const exitCode = EXIT_CODES.replaceNode;
	const reason = [...givenUpFor(state), stuckReason(stuck)].join("; ");
	const workers = stuck.reduce(
		(left, { localRank }) => markGone(left, localRank),
		state.workers,
	);
	if (state.phase === "RUNNING") {
		const request = { exitCode, reason, immediately: false };
		return leave({ ...state, workers }, request, context);
	}
	if (living(workers).length === 0) {
		return close(state, leftWith(exitCode, reason));
	}
	const next: Next = { kind: "leave", exitCode, reason, leaveBy: null };
	return stop({ ...state, workers, next }, next, reason, context);
}

/** The reason for which it already leaves, if that was another such process. */
function givenUpFor(state: Running | Stopping): readonly string[] {
	if (state.phase === "RUNNING" || state.next.kind !== "leave") return [];
	const { exitCode, reason } = state.next;
	return exitCode === EXIT_CODES.replaceNode ? [reason] : [];
}

/** Names the processes that survived SIGKILL. */
function stuckReason(stuck: readonly WorkerSlot[]): string {
	const pids = stuck.map(
		({ localRank, pid }) => `pid ${pid ?? "?"} (local rank ${localRank})`,
	);
	return `not gone ${UNKILLABLE_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel or another user's: ${pids.join(", ")}`;
}
