import { formatCount } from "../../base/units.js";
import { type Active, endAll, withGrace } from "./begin-stopping.js";
import { close, endingOf, foreignInstance } from "./ending.js";
import { leaveWhenSeen } from "./leave-when-seen.js";
import {
	type Hold,
	holdWith,
	isWorthARound,
	leavingFor,
	type PendingNotices,
	TOO_LATE,
} from "./pending-notices.js";
import { hasHadItsRound, mayHaveSpent, recreate } from "./recreate.js";
import {
	type Ending,
	type Left,
	type Next,
	nextClaim,
	type Stopping,
} from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { join } from "./take-seat.js";
import {
	isHeld,
	isToldToPause,
	isUnexplained,
	paused,
	remaining,
	type WorkerSlot,
} from "./worker-slot.js";

/** Once no worker is left to end: the run's outcome, the next round, or the exit. */
export function goOnIfGone(
	state: Stopping,
	context: TransitionContext,
): Transition {
	const { view, next } = state;
	const foreign = view === null ? undefined : foreignInstance(state, view);
	const ending =
		foreign ?? (view?.round.outcome ? endingOf(view.round.outcome) : undefined);
	if (next.kind === "leave" && next.holds !== undefined) {
		return hold(state, { ...next, holds: next.holds }, ending, context);
	}
	const isOver = ending !== undefined || next.kind === "leave";
	const isUntold = (worker: WorkerSlot) =>
		isToldToPause(worker) ||
		(isUnexplained(worker) && worker.status !== "gone");
	if (isOver && state.workers.some(isUntold)) {
		const reason = ending?.reason ?? "no round follows";
		return endAll(state, withGrace(state, next, context), reason);
	}
	if (remaining(state.workers).length > 0) return ignore(state);
	if (ending !== undefined) return close(state, ending);
	if (next.kind === "leave") return leaveWhenSeen(state, next, context);
	if (view === null || state.workers.some(isUnexplained)) return ignore(state);
	const late = tooLateFor(state, context);
	if (late !== undefined) {
		const leaving = leavingAndHolding(state, late, context);
		const after = goOnIfGone({ ...state, next: leaving }, context);
		return { ...after, reason: `${leavingFor(late).reason}; ${TOO_LATE}` };
	}
	if (hasHadItsRound(state, context) && !mayHaveSpent(state, view, context)) {
		return recreate(state, context);
	}
	const joined = join(state, view, context);
	return {
		...joined,
		reason: joined.reason || readyWords(state, nextClaim(view)),
	};
}

/** The notices for which this node begins no round any more; undefined if it may. */
export function tooLateFor(
	{ notices, view }: Active,
	{ now }: TransitionContext,
): PendingNotices | undefined {
	const isOver = view !== null && view.round.outcome !== null;
	return notices === undefined || isOver || isWorthARound(notices, now)
		? undefined
		: notices;
}

/** Its machine goes: it leaves, and workers that are not ready keep their time. */
export function leavingAndHolding(
	state: Active,
	notices: PendingNotices,
	context: TransitionContext,
): Next {
	return {
		...{ kind: "leave", ...leavingFor(notices), root: null },
		...{ isAsked: true, isByNotice: true, leaveBy: null },
		isLate: state.phase !== "RUNNING" && isMember(state),
		holds: holdWith(notices, context),
	};
}

/** Workers that are not ready keep their time. When it is over, or all are ready, all get SIGTERM. */
function hold(
	state: Stopping,
	{ holds, ...next }: Next & { kind: "leave"; holds: Hold },
	ending: Ending | undefined,
	context: TransitionContext,
): Transition {
	const { until, killAt } = holds;
	const isDue = context.now >= until;
	const isTime = isDue || ending !== undefined;
	if (!isTime && state.workers.some(isHeld)) return ignore(state);
	const words = isDue
		? "the time of the workers is over"
		: "all workers are ready to end";
	const reason = ending?.reason ?? words;
	const ended = endAll({ ...state, next }, { next, killAt }, reason);
	const after = goOnIfGone(ended.state, context);
	const effects = [...ended.effects, ...after.effects];
	return { state: after.state, effects, reason };
}

/** "ready for round 4 (1 worker paused)". */
function readyWords({ workers }: Active, round: number): string {
	const kept = paused(workers).length;
	const note = kept === 0 ? "" : ` (${formatCount(kept, "worker")} paused)`;
	return `ready for round ${round}${note}`;
}

/** The same, when fewer workers may be left to wait for. */
export function goOnFrom(
	state: Active,
	context: TransitionContext,
): Transition {
	return state.phase === "STOPPING"
		? goOnIfGone(state, context)
		: ignore(state);
}

/** Whether a node that has left a round is still a member with others, as far as it knows. */
export function isMember({ view, round }: Left): boolean {
	return view !== null && view.round.synced === round && view.round.seats > 1;
}
