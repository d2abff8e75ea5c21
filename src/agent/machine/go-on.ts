import { EXIT_CODES } from "../../base/errors.js";
import { formatCount } from "../../base/units.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import { type Active, endAll, withGrace } from "./begin-stopping.js";
import { close, endingOf, foreignInstance, leftWith } from "./ending.js";
import type { Hold } from "./pending-notices.js";
import {
	type Ending,
	type Finished,
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

/** How long a leaving agent waits until the others know what they need, in milliseconds. */
export const LEAVE_PATIENCE_MS = 2_000;
/** How long its record stays readable if it had left the round before it was asked to go, in milliseconds. */
const LAST_WORD_MS = 500;

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
		return endAll(state, withGrace(next, context), reason);
	}
	if (remaining(state.workers).length > 0) return ignore(state);
	if (ending !== undefined) return close(state, ending);
	if (next.kind === "leave") return leaveWhenSeen(state, next, context);
	if (view === null || state.workers.some(isUnexplained)) return ignore(state);
	if (context.recreatesWith !== undefined && state.seat !== null) {
		return endWithRound(state, view, context.recreatesWith);
	}
	if (endsInstead(state, view, context)) return recreate(state, context);
	const joined = join(state, view, context);
	return {
		...joined,
		reason: joined.reason || readyWords(state, nextClaim(view)),
	};
}

/**
 * This process has had its round, and another one of its node takes part in the next. Before it goes, the others must
 * know what has happened here.
 */
export function endWithRound(
	state: Stopping | Finished,
	{ round: { deprecated, cause } }: RoundView,
	exitCode: number,
): Transition {
	if (deprecated < state.round) return ignore(state);
	const reason = `round ${state.round} is over, this process ends for its next start: ${cause.reason}`;
	return close(state, leftWith(exitCode, reason));
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

/**
 * Whether the agent ends instead of restarting its workers. If this failure may have spent the run's budget, it waits for
 * the outcome as usual: a new process could only exit with it.
 */
function endsInstead(
	{ workers, round: own, failure }: Stopping,
	{ round }: RoundView,
	{ isStartedAnew, maxRestarts }: TransitionContext,
): boolean {
	if (!isStartedAnew || own === 0 || paused(workers).length > 0) return false;
	const isOwn = failure?.failure.round === own && round.deprecated < own;
	const paysFor = isOwn ? failure : round.unpaid;
	return paysFor?.charge !== "run" || round.charged < maxRestarts;
}

function recreate(state: Stopping, context: TransitionContext): Transition {
	const reason = `ends, to be started again for round ${state.claim}`;
	const { failure, round } = state;
	const isOwn = failure?.failure.round === round && failure.isWish !== true;
	const root = isOwn ? failure.failure : null;
	const next: Next = {
		...{ kind: "leave", exitCode: EXIT_CODES.restart, reason, root },
		...{ departure: "recreated", leaveBy: null },
	};
	const left = leaveWhenSeen({ ...state, next }, next, context);
	return { ...left, reason };
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

/**
 * Before its lease ends, the others must know that this node's round is over, or, if it had left the round before it was
 * asked to go, that it leaves. Otherwise it would seem lost.
 */
function leaveWhenSeen(
	state: Stopping,
	next: Next & { kind: "leave" },
	{ now }: TransitionContext,
): Transition {
	const { synced = 0, deprecated = 0 } = state.view?.round ?? {};
	const { departure } = next;
	const isKnown =
		departure === undefined || state.view?.departure === departure;
	const isLeft = next.isLate
		? synced !== state.round
		: deprecated >= state.round;
	const seen = isKnown && isLeft;
	if (seen || (next.leaveBy !== null && now >= next.leaveBy)) {
		return close(state, leftWith(next.exitCode, next.reason, next.root));
	}
	const patienceMs = next.isLate ? LAST_WORD_MS : LEAVE_PATIENCE_MS;
	const leaveBy = next.leaveBy ?? now + patienceMs;
	return ignore({ ...state, next: { ...next, leaveBy } });
}

/** Whether a node that has left a round is still a member with others, as far as it knows. */
export function isMember({ view, round }: Left): boolean {
	return view !== null && view.round.synced === round && view.round.seats > 1;
}
