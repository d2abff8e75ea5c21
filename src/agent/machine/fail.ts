import { EXIT_CODES } from "../../base/errors.js";
import { decide } from "../../policies/check-decision.js";
import { askAbout, isHopeless, ruleOn, verdictOn } from "./ask-about.js";
import { type Active, tellToEnd } from "./begin-stopping.js";
import { carryOut, scaleDown } from "./carry-out.js";
import { leaveAndHold } from "./leave-by-notice.js";
import {
	type Failure,
	policyContext,
	rankOf,
	withFailure,
} from "./note-failure.js";
import { pause } from "./pause.js";
import { killAtWith, type PendingNotices } from "./pending-notices.js";
import { hintOfSilence, NEWS_MS, STOPPED_MS } from "./silence.js";
import type { Joining, Running, Stopping } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave, stop } from "./stop.js";
import { WISH_AFTER_MS, waiting } from "./worker-replies.js";
import { hasHeard, type RunningWorker } from "./worker-slot.js";
import { overdue, toEnd, update, withNewTime } from "./worker-slots.js";

const WAIT_RULE =
	"a worker that has taken its round with getWorkerInfo() and then calls waitForWork() waits for the next round";
const WAIT_FIX =
	"call waitForWork() only after a PAUSE or an error of a peer, or pass the last round that was worked in as afterRound";

/** A worker of this node failed: the agent reports it, its policy decides, the coordinator charges. */
export function fail(
	state: Active,
	failure: Failure,
	context: TransitionContext,
): Transition {
	const { localRank, description, failsRun } = failure;
	const cause = `rank ${rankOf(state, localRank)} failed: ${description}`;
	if (state.notices !== undefined) {
		return failGoing(state, state.notices, { localRank, cause }, context);
	}
	if (isHopeless(failure) && ruleOn(state, failure, context) === undefined) {
		return failHopeless(state, failure, cause, context);
	}
	const decision = verdictOn(state, failure, cause, context);
	const { charge, rule } = decision;
	const exitCode = failsRun ?? EXIT_CODES.failed;
	const ends = decision.workers === "fail-run" ? exitCode : null;
	const failed = withFailure(state, failure, charge, ends, context, rule);
	const reason =
		decision.reason === cause ? cause : `${cause}; ${decision.reason}`;
	return carryOut(
		failed,
		decision,
		scaleDown(reason, context, localRank),
		context,
	);
}

/** A retry on this node cannot help: another node goes on, or the run fails. */
function failHopeless(
	state: Active,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): Transition {
	const { localRank, description, isOfNode } = failure;
	const hasOthers = (state.view?.round.seats ?? 0) > 1;
	if (isOfNode && hasOthers) {
		const reason = `rank ${rankOf(state, localRank)} ${description}`;
		const exitCode = EXIT_CODES.replaceNode;
		return leave(state, { exitCode, reason, immediately: false }, context);
	}
	const { failsRun = EXIT_CODES.failed } = failure;
	const failed = withFailure(state, failure, "nothing", failsRun, context);
	return stop(failed, { kind: "rejoin" }, cause, context);
}

/** Its machine goes, so that its failure is no incident. The worker ends if it has not ended. */
function failGoing(
	state: Active,
	notices: PendingNotices,
	{ localRank, cause }: { readonly localRank: number; readonly cause: string },
	context: TransitionContext,
): Transition {
	const killAt = killAtWith(notices, context);
	const workers = update(state.workers, localRank, (one) => toEnd(one, killAt));
	const left = leaveAndHold({ ...state, workers }, notices, cause, context);
	return {
		...left,
		effects: [...tellToEnd(state.workers, workers), ...left.effects],
	};
}

/**
 * A worker waits for another round although no node has left this one: it alone has seen a failure, and asks for a new
 * round. Its process is as good as the others. If its last request brought all nodes back and nothing has failed since,
 * it misuses the call, and keeps waiting.
 */
export function askForRound(
	state: Running,
	worker: RunningWorker,
	context: TransitionContext,
): Transition {
	const { localRank, pid, waitsUntil } = worker;
	if (state.view?.round.cause.isWish) return waitOn(state, worker);
	const description = `waits for another round than ${state.round}, which no node had left`;
	const cause = `rank ${rankOf(state, localRank)} ${description}`;
	const exitCode = EXIT_CODES.failed;
	const about = { localRank, pid, exitCode, description, isGivenUp: true };
	const hint = `${WAIT_RULE}; ${WAIT_FIX}`;
	const unseenMs = context.now - (waitsUntil ?? context.now) + WISH_AFTER_MS;
	const failure: Failure = { ...about, hint, isWish: true, unseenMs };
	const { charge } = askAbout(state, failure, cause, context);
	const decision = decide(context.policy.name, "scale", () =>
		context.policy.onScaleDown(policyContext(state, cause, context)),
	);
	const ends = decision.workers === "fail-run" ? EXIT_CODES.failed : null;
	const failed = withFailure(state, failure, charge, ends, context);
	return carryOut(failed, decision, scaleDown(cause, context), context);
}

/** The worker keeps waiting, and the log says once what would help. */
function waitOn(state: Running, { localRank }: RunningWorker): Transition {
	const { round } = state;
	const workers = update(state.workers, localRank, (worker) =>
		waiting(worker, Number.POSITIVE_INFINITY),
	);
	const message = `rank ${rankOf(state, localRank)} waits for another round than ${round}, and no new one begins for it: round ${round} began because a worker waited, all nodes came back, and nothing has failed since. ${WAIT_RULE}; ${WAIT_FIX}. It waits until round ${round} ends for another reason`;
	return {
		state: { ...state, workers },
		effects: [{ kind: "warn", message }],
		reason: "",
	};
}

/** Handles a worker that has not left its round in time, or not for so long that the user should know; undefined if neither is due. */
export function onOverdue(
	state: Joining | Stopping,
	context: TransitionContext,
): Transition | undefined {
	const { now } = context;
	const late = overdue(state.workers, now);
	if (late === undefined) return hintOfSilence(state, context);
	if (now - late.pause.leaveBy > STOPPED_MS) {
		const workers = withNewTime(state.workers, now, now + NEWS_MS);
		return ignore({ ...state, workers });
	}
	const { localRank, pid, hasPaused } = late;
	if (hasHeard(late)) {
		const cause = `rank ${rankOf(state, localRank)} has neither ended nor waited for work within ${context.pauseTimeoutMs / 1000} s of PAUSE: it is restarted`;
		return pause(state, scaleDown(cause, context, localRank), context);
	}
	const description = `did not acknowledge PAUSE within ${context.pauseTimeoutMs / 1000} s`;
	const exitCode = EXIT_CODES.failed;
	const about = { localRank, pid, exitCode, description, isGivenUp: true };
	return hasPaused
		? fail(state, about, context)
		: startAnew(state, localRank, description, context);
}

/** A worker that has never acknowledged a PAUSE may not understand it: as with deaf workers, nothing is charged. */
function startAnew(
	state: Joining | Stopping,
	localRank: number,
	description: string,
	context: TransitionContext,
): Transition {
	const cause = `rank ${rankOf(state, localRank)} ${description}, nor any before: it is restarted`;
	const begun = pause(state, scaleDown(cause, context, localRank), context);
	const message = `a worker has not acknowledged PAUSE within ${context.pauseTimeoutMs / 1000} s, nor any before: it is restarted; receive events with waitForWork(), onWorkerEvent() or workerEvents() of elastic-run/runtime, or set --pause-timeout`;
	return { ...begun, effects: [...begun.effects, { kind: "warn", message }] };
}
