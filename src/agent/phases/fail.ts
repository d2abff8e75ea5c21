import { EXIT_CODES } from "../../errors.js";
import type { RestartDecision } from "../../policies/strategy.js";
import type { Running } from "../state.js";
import { ackByOf, type WorkerSlot } from "../worker-slot.js";
import type { Active } from "./begin-stopping.js";
import { carryOut, scaleDown } from "./carry-out.js";
import { decide } from "./decide.js";
import { type Failure, policyContext, rankOf, withFailure } from "./failure.js";
import { leaveRound } from "./leave-round.js";
import { pause } from "./pause.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave, stop } from "./stop.js";
import { overdue, withNewTime } from "./worker-slots.js";
import { markManner } from "./worker-words.js";

/** An agent that is so late for a deadline, in milliseconds, was stopped itself: SIGSTOP, or a machine that slept … */
const STOPPED_MS = 1_000;
/** … and first hears what its workers have said meanwhile, which may take so long. */
const NEWS_MS = 2_000;

/** One of its own workers failed: it reports, and the policy decides; the coordinator charges. */
export function fail(
	state: Active,
	failure: Failure,
	context: TransitionContext,
): Transition {
	const { localRank, description } = failure;
	const cause = `rank ${rankOf(state, localRank)} failed: ${description}`;
	const hasOthers = (state.view?.round.seats ?? 0) > 1;
	if (failure.isOfNode && hasOthers) {
		const reason = `rank ${rankOf(state, localRank)} ${description}`;
		const exitCode = EXIT_CODES.replaceNode;
		return leave(state, { exitCode, reason, immediately: false }, context);
	}
	const failsRun = failure.isOfNode ? EXIT_CODES.failed : failure.failsRun;
	if (failsRun !== undefined) {
		const failed = withFailure(state, failure, "nothing", failsRun, context);
		return stop(failed, { kind: "rejoin" }, cause, context);
	}
	const decision = askAbout(state, failure, cause, context);
	const ends = decision.workers === "fail-run" ? EXIT_CODES.failed : null;
	const failed = withFailure(state, failure, decision.charge, ends, context);
	const reason =
		decision.reason === cause ? cause : `${cause}; ${decision.reason}`;
	return carryOut(
		failed,
		decision,
		scaleDown(reason, context, localRank),
		context,
	);
}

/**
 * A worker waits for another round, although nobody has left this one: it has
 * seen a failure that nobody else has, and asks for a new round. Its process is
 * as good as those of the others.
 */
export function askForRound(
	state: Running,
	{ localRank, pid }: WorkerSlot,
	context: TransitionContext,
): Transition {
	const description = `waits for another round than ${state.round}, which nobody had left`;
	const cause = `rank ${rankOf(state, localRank)} ${description}`;
	const exitCode = EXIT_CODES.failed;
	const about = { localRank, pid, exitCode, description, isGivenUp: true };
	const hint =
		"whoever has been shown its round (getWorkerInfo) and then calls waitForWork waits for the next one";
	const failure: Failure = { ...about, hint, isWish: true };
	const { charge } = askAbout(state, failure, cause, context);
	const decision = decide(context.policy.name, "scale", () =>
		context.policy.onScaleDown(policyContext(state, cause, context)),
	);
	const ends = decision.workers === "fail-run" ? EXIT_CODES.failed : null;
	const failed = withFailure(state, failure, charge, ends, context);
	return carryOut(failed, decision, scaleDown(cause, context), context);
}

/** A PAUSE was not acknowledged in time; undefined where none is due. */
export function onOverdue(
	state: Active,
	context: TransitionContext,
): Transition | undefined {
	const { now } = context;
	const late = overdue(state.workers, now);
	if (late === undefined) return undefined;
	if (now - (ackByOf(late) ?? now) > STOPPED_MS) {
		const workers = withNewTime(state.workers, now, now + NEWS_MS);
		return ignore({ ...state, workers });
	}
	const { localRank, pid, hasPaused, status } = late;
	const hasHeard = late.heard >= late.events;
	if (status === "awaited" && hasHeard) {
		const cause = `rank ${rankOf(state, localRank)} has neither ended nor waited for work within ${context.pauseTimeoutMs / 1000} s of PAUSE: it is started anew`;
		return pause(state, scaleDown(cause, context, localRank), context);
	}
	const description = `did not acknowledge PAUSE within ${context.pauseTimeoutMs / 1000} s`;
	const exitCode = EXIT_CODES.failed;
	const about = { localRank, pid, exitCode, description, isGivenUp: true };
	return hasPaused
		? fail(state, about, context)
		: startAnew(state, localRank, description, context);
}

/** One that has never acknowledged a PAUSE may not know what that is: as with the deaf, nobody pays. */
function startAnew(
	state: Active,
	localRank: number,
	description: string,
	context: TransitionContext,
): Transition {
	const cause = `rank ${rankOf(state, localRank)} ${description}, nor any before: it is started anew`;
	const change = "SCALE_DOWN";
	const workers = markManner(state.workers, localRank, "silent");
	const known = { ...state, workers };
	const begun =
		known.phase === "RUNNING"
			? leaveRound(known, { change, cause, without: localRank }, context)
			: pause(known, scaleDown(cause, context, localRank), context);
	const message = `a worker has not acknowledged PAUSE within ${context.pauseTimeoutMs / 1000} s, nor any before: it is ended and started anew; receive events with waitForWork(), onWorkerEvent() or workerEvents() of elastic-run/runtime, or set --pause-timeout`;
	return { ...begun, effects: [...begun.effects, { kind: "warn", message }] };
}

function askAbout(
	state: Active,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): RestartDecision {
	const { policy } = context;
	return decide(policy.name, "failure", () =>
		policy.onWorkerFailure({
			...policyContext(state, cause, context),
			rank: rankOf(state, failure.localRank),
			localRank: failure.localRank,
			role: state.seat?.role ?? "",
			exitCode: failure.exitCode,
			signal: failure.exit?.signal ?? null,
			uptimeMs: failure.exit?.uptimeMs ?? 0,
			errorMessage: failure.error?.message,
		}),
	);
}
