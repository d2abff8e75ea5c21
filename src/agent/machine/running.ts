import { EXIT_CODES } from "../../base/errors.js";
import { decide } from "../../policies/check-decision.js";
import type { RoundView } from "../../rendezvous/member/membership.js";
import { scaleDown } from "./carry-out.js";
import { foreignInstance } from "./ending.js";
import { askForRound, fail } from "./fail.js";
import { finishIfDone } from "./finish-if-done.js";
import { onHung } from "./hung.js";
import type { AgentInput } from "./inputs.js";
import { killDue } from "./kill-due.js";
import {
	exitAfterNotice,
	leaveAndHold,
	leaveIfDue,
	leaveIfReady,
	markReply,
} from "./leave-by-notice.js";
import { leaveRound } from "./leave-round.js";
import { notStarted, policyContext, rankOf } from "./note-failure.js";
import { onNotice } from "./on-notice.js";
import { pause } from "./pause.js";
import { isWorthARound } from "./pending-notices.js";
import { beginNext, isOfOthers, runOn } from "./run-on.js";
import type { Running } from "./state.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave, stop } from "./stop.js";
import { dueFailure, firstFailure, whileUnexplained } from "./unexplained.js";
import { markHeard, markWait, markWorks } from "./worker-replies.js";
import {
	hasUnackedEvent,
	isBehind,
	isEnding,
	type WorkerSlot,
} from "./worker-slot.js";
import {
	markExited,
	markGone,
	markStarted,
	roundRequested,
	update,
} from "./worker-slots.js";

/** The agent's workers run the round of its seat. */
export function onRunning(
	state: Running,
	input: AgentInput,
	context: TransitionContext,
): Transition {
	switch (input.kind) {
		case "round-seen":
			return look({ ...state, view: input.view }, input.view, context);
		case "worker-started":
			return ignore({ ...state, workers: markStarted(state.workers, input) });
		case "worker-exited":
			return (
				(state.notices &&
					exitAfterNotice(state, state.notices, input, context)) ??
				onExit(state, input, context)
			);
		case "worker-not-started":
			return fail(state, notStarted(input), context);
		case "worker-gone":
			return finishIfDone({
				...state,
				workers: markGone(state.workers, input.localRank),
			});
		case "worker-attached":
		case "worker-acknowledged":
			return ignore({ ...state, workers: markHeard(state.workers, input) });
		case "worker-waits":
			return ignore({ ...state, workers: markWait(state, input, context.now) });
		case "worker-works":
			return ignore({ ...state, workers: markWorks(state, input) });
		case "worker-not-told":
			return fail(state, notTold(state, input), context);
		case "worker-hung":
			return onHung(state, input, context);
		case "noticed":
		case "notice-withdrawn":
			return onNotice(state, input, context);
		case "worker-noticed":
		case "worker-ready": {
			const after = { ...state, workers: markReply(state.workers, input) };
			return leaveIfReady(after, context) ?? ignore(after);
		}
		case "time-passed":
			return leaveIfDue(state, context) ?? onDeadline(state, context);
		case "stop-asked":
			return leave(state, { ...input, isAsked: true }, context);
		case "session-lost":
			return fence(state, input, context);
		default:
			return input satisfies never;
	}
}

function look(
	state: Running,
	view: RoundView,
	context: TransitionContext,
): Transition {
	const foreign = foreignInstance(state, view);
	if (foreign !== undefined) {
		return leave(state, { ...foreign, immediately: false }, context);
	}
	const { outcome, deprecated, cause } = view.round;
	if (outcome !== null) {
		return stop(state, { kind: "rejoin" }, outcome.reason, context);
	}
	const begun = beginNext(state, view, context);
	if (begun !== undefined) return begun;
	if (deprecated < state.round) return ignore(state);
	const { notices } = state;
	if (notices !== undefined && !isWorthARound(notices, context.now)) {
		return leaveAndHold(state, notices, cause.reason, context);
	}
	if (isOfOthers(view, context)) return runOn(state, view);
	const change = cause.changeEvent ?? "SCALE_DOWN";
	return leaveRound(state, { change, cause: cause.reason }, context);
}

/** The others may soon continue without this node: its workers must be dead by then. */
function fence(
	state: Running,
	{ reason, fenceAt }: AgentInput & { kind: "session-lost" },
	context: TransitionContext,
): Transition {
	const { policy } = context;
	const { workers } = decide(policy.name, "scale", () =>
		policy.onScaleDown(policyContext(state, reason, context)),
	);
	const notice = scaleDown(reason, context);
	const killAt = Math.min(fenceAt, notice.killAt);
	const fenced: Running = { ...state, fencedIn: state.round };
	return workers === "pause"
		? pause(fenced, { ...notice, killAt }, context)
		: stop(fenced, { kind: "rejoin" }, reason, context, killAt);
}

function onExit(
	state: Running,
	input: AgentInput & { kind: "worker-exited" },
	context: TransitionContext,
): Transition {
	const killAt = context.now + context.shutdownTimeoutMs;
	const isFailure = input.exitCode !== 0;
	const workers = markExited(state.workers, input, isFailure ? null : killAt);
	const after: Running = { ...state, workers };
	if (isFailure) {
		return (
			whileUnexplained(after, input, context.now) ??
			fail(after, firstFailure(workers, input, context.now), context)
		);
	}
	const { localRank } = input;
	const slot = state.workers.find((worker) => worker.localRank === localRank);
	if (slot && !isEnding(slot) && isBehind(slot, context.now)) {
		return endedLate(after, slot, context);
	}
	return {
		state: after,
		effects: input.groupRemains
			? [{ kind: "terminate", localRanks: [localRank] }]
			: [],
		reason: "",
	};
}

/**
 * A worker that was told PAUSE and then ended with 0 may have ended because of the PAUSE, whatever a listener of it has
 * heard since. It has not worked in this round, and the others would wait for it. As while paused, that is no failure,
 * and it is restarted. Its node waits for the next worker in its place, or two such workers would restart each other for
 * ever.
 */
function endedLate(
	state: Running,
	slot: WorkerSlot,
	context: TransitionContext,
): Transition {
	const { localRank } = slot;
	const workers = update(state.workers, localRank, (worker) => ({
		...worker,
		endedLate: true,
	}));
	const when = hasUnackedEvent(slot)
		? `before it had heard of round ${state.round}`
		: "after its PAUSE, and had not waited for work since";
	const cause = `rank ${rankOf(state, localRank)} ended ${when}: it is restarted`;
	const change = { change: "SCALE_DOWN", cause, without: localRank } as const;
	return leaveRound({ ...state, workers }, change, context);
}

/** Without its WORK it would delay the others. */
function notTold(
	{ workers }: Running,
	{ localRank, problem }: AgentInput & { kind: "worker-not-told" },
) {
	const slot = workers.find((worker) => worker.localRank === localRank);
	const exitCode = EXIT_CODES.failed;
	const description = `cannot be told to work: ${problem}`;
	const pid = slot?.pid ?? null;
	return { localRank, pid, exitCode, description, isGivenUp: true };
}

function onDeadline(state: Running, context: TransitionContext): Transition {
	const failure = dueFailure(state.workers, context.now);
	if (failure !== undefined) return fail(state, failure, context);
	const request = roundRequested(state.workers, context.now);
	return request === undefined
		? (killDue(state, context) ?? ignore(state))
		: askForRound(state, request, context);
}
