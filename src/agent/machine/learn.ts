import { EXIT_CODES } from "../../base/errors.js";
import {
	holdWith,
	killAtWith,
	type PendingNotices,
	withNotice,
	withoutOrigin,
} from "../../notices/index.js";
import { STOP_CODES } from "../../processes/index.js";
import type { RoundView } from "../../rendezvous/index.js";
import { firstFailure, givenUp, notStarted } from "./failure.js";
import type {
	AgentInput,
	Failure,
	Matter,
	NoticeInput,
	NotNotified,
	TransitionContext,
	WorkerHung,
	WorkerReply,
} from "./inputs.js";
import { type Facts, nextClaim, rankOf } from "./state.js";
import {
	hasUnackedEvent,
	isBehind,
	isEnding,
	isKept,
	isUnexplained,
	REQUEST_AFTER_MS,
	toEnd,
	toExited,
	toGone,
	toHeard,
	toNotBehind,
	toWaiting,
	update,
	type WorkerExited,
	type WorkerSlot,
} from "./worker.js";

/** How long a worker's death of SIGTERM or SIGINT waits for the launcher's own signal, in milliseconds. */
const WAITS_FOR_SIGNAL_MS = 500;

export interface Learnt {
	readonly facts: Facts;
	/** Undefined: nothing to decide. */
	readonly matter?: Matter | undefined;
}

/** Notes what an input says; decides nothing. */
export function learn(
	facts: Facts,
	input: AgentInput,
	context: TransitionContext,
): Learnt {
	switch (input.kind) {
		case "round-seen":
			return { facts: withView(facts, input.view), matter: { kind: "seen" } };
		case "time-passed":
			return { facts, matter: { kind: "due" } };
		case "stop-asked":
			return { facts, matter: input };
		case "session-lost":
			return cutOff(facts, input);
		case "noticed":
		case "notice-withdrawn":
			return noticed(facts, input, context);
		case "worker-exited":
			return exited(facts, input, context);
		case "worker-not-started":
			return facts.phase === "RUNNING"
				? failed(facts, notStarted(input.localRank, input.problem))
				: { facts };
		case "worker-not-told":
			return notNotified(facts, input);
		case "worker-hung":
			return hung(facts, input);
		default:
			return heard(facts, input, context.now);
	}
}

/** A node that stops claims no round that has begun meanwhile: its peers must leave that at once. */
function withView(facts: Facts, view: RoundView): Facts {
	const { phase, claim } = facts;
	const instance = facts.instance ?? view.joined ?? view.round.instance;
	const next = Math.max(claim, nextClaim(view));
	const isStopping = phase === "STOPPING";
	return { ...facts, view, instance, claim: isStopping ? next : claim };
}

/** Between rounds workers that end, and those that have ended for no known reason, get the time that is left. */
function cutOff(
	facts: Facts,
	lost: AgentInput & { kind: "session-lost" },
): Learnt {
	const { phase, view, round, holds } = facts;
	if (phase === "RUNNING") return { facts, matter: lost };
	if (phase === "FINISHED") return { facts };
	const isNews = (view?.round.deprecated ?? 0) < round;
	const after = { ...facts, fencedIn: isNews ? round : facts.fencedIn };
	if (holds !== undefined) return { facts: after, matter: lost };
	const workers = facts.workers.map((worker) =>
		isEnding(worker) || isUnexplained(worker)
			? toEnd(worker, lost.fenceAt)
			: worker,
	);
	return { facts: { ...after, workers } };
}

function heard(facts: Facts, reply: WorkerReply, now: number): Learnt {
	const isRunning = facts.phase === "RUNNING";
	const workers = update(facts.workers, reply.localRank, (worker) =>
		afterReply(worker, reply, isRunning ? facts.round : null, now),
	);
	const after = { ...facts, workers };
	switch (reply.kind) {
		case "worker-started":
		case "worker-works":
		case "worker-stuck":
			return { facts: after };
		case "worker-waits":
			return reply.round === null ? { facts: after } : news(after);
		case "worker-noticed":
		case "worker-ready":
			return isRunning || facts.holds !== undefined
				? { facts: after, matter: { kind: "saved" } }
				: { facts: after };
		default:
			return news(after);
	}
}

function news(facts: Facts): Learnt {
	return { facts, matter: { kind: "news" } };
}

/** @param round the round that runs; null: none */
function afterReply(
	worker: WorkerSlot,
	reply: WorkerReply,
	round: number | null,
	now: number,
): WorkerSlot {
	switch (reply.kind) {
		case "worker-started":
			return { ...worker, pid: reply.pid };
		case "worker-gone":
			return toGone(worker);
		case "worker-attached":
			return { ...worker, attached: true };
		case "worker-acknowledged":
			return toHeard(worker, reply.event);
		case "worker-waits":
			return afterWait(worker, reply.round, round, now);
		case "worker-works":
			return reply.round === round ? { ...worker, behindUntil: null } : worker;
		case "worker-noticed":
			return { ...worker, noticed: true };
		case "worker-ready":
			return { ...worker, noticed: true, ready: true };
		case "worker-stuck":
			return worker.pid === reply.pid && isEnding(worker)
				? toEnd(worker, now)
				: worker;
		default:
			return reply satisfies never;
	}
}

/** It waits for a round after this one or, with null, no longer waits: it requested none. */
function afterWait(
	worker: WorkerSlot,
	behind: number | null,
	round: number | null,
	now: number,
): WorkerSlot {
	if (behind === null) return round === null ? worker : toWaiting(worker, null);
	const known = toNotBehind(worker);
	// It waits behind an earlier round: it has not seen yet that it may work.
	if (round === null || behind < round) return known;
	return toWaiting(known, known.waitsUntil ?? now + REQUEST_AFTER_MS);
}

function failed(facts: Facts, failure: Failure): Learnt {
	return { facts, matter: { kind: "failed", failure } };
}

function exited(
	facts: Facts,
	exit: WorkerExited,
	{ now, shutdownTimeoutMs }: TransitionContext,
): Learnt {
	const { localRank, exitCode } = exit;
	const { notices, holds } = facts;
	const slot = facts.workers.find((one) => one.localRank === localRank);
	if (slot === undefined) return { facts };
	const isRunning = facts.phase === "RUNNING";
	// One that ended with 0 and has not read the notice may have finished its work.
	const hasRead = notices !== undefined && (slot.noticed || slot.ready);
	const isSuccess = isRunning && exitCode === 0 && !hasRead;
	const isLate = isSuccess && !isEnding(slot) && isBehind(slot, now);
	const killAt = isLate ? now + shutdownTimeoutMs : null;
	const workers = update(facts.workers, localRank, (worker) =>
		toExited(worker, exit, killAt),
	);
	const after = { ...facts, workers };
	if (holds !== undefined) return news(after);
	if (!isRunning && !isKept(slot)) return { facts: after };
	if (isLate) return endedLate(after, slot);
	if (isSuccess) {
		const matter = { kind: "left-behind", localRank } as const;
		return exit.groupRemains ? { facts: after, matter } : { facts: after };
	}
	if (isRunning && notices !== undefined) {
		const why = `local rank ${localRank} ended: ${exit.description}`;
		return { facts: after, matter: { kind: "ended", why } };
	}
	return exitCode === 0
		? notKept(after, localRank, "ended while it was paused")
		: died(after, exit, now);
}

/**
 * A scheduler that stops a job signals its whole process tree, and workers die a few milliseconds before this launcher
 * gets its signal. Such a death is noted, and the other workers continue until its time is over.
 */
function died(facts: Facts, exit: WorkerExited, now: number): Learnt {
	const { localRank, exitCode, description } = exit;
	const isStop = STOP_CODES.includes(exitCode) && !exit.exit.signalledByAgent;
	const slot = facts.workers.find((one) => one.localRank === localRank);
	if (!isStop || slot === undefined || isEnding(slot)) {
		return failed(facts, firstFailure(facts, exit, now));
	}
	const until = now + WAITS_FOR_SIGNAL_MS;
	const unexplained = { exit, since: now, until };
	const workers = update(facts.workers, localRank, (worker) =>
		worker.status === "exited" ? { ...worker, unexplained } : worker,
	);
	const why = `rank ${rankOf(facts, localRank)} ended (${description}), and this launcher has not told it to: waits ${WAITS_FOR_SIGNAL_MS / 1000} s for a signal to itself`;
	return { facts: { ...facts, workers }, matter: { kind: "unexplained", why } };
}

/**
 * A worker that was sent PAUSE and then ended with 0 may have ended because of the PAUSE, whatever a listener of it has
 * acknowledged since. It has not worked in this round, and the others would wait for it. As while paused, that is no
 * failure, and it is restarted. Its node waits for the next worker in its place, or two such workers would restart each
 * other for ever.
 */
function endedLate(facts: Facts, slot: WorkerSlot): Learnt {
	const { localRank } = slot;
	const workers = update(facts.workers, localRank, (worker) => ({
		...worker,
		endedLate: true,
	}));
	const when = hasUnackedEvent(slot)
		? `before it had heard of round ${facts.round}`
		: "after its PAUSE, and had not waited for work since";
	const why = `rank ${rankOf(facts, localRank)} ended ${when}: it is restarted`;
	const matter = { kind: "ended-late", localRank, why } as const;
	return { facts: { ...facts, workers }, matter };
}

function notKept(
	facts: Facts,
	localRank: number,
	what: string,
	killAt?: number,
): Learnt {
	const why = `local rank ${localRank} ${what}`;
	return { facts, matter: { kind: "not-kept", localRank, why, killAt } };
}

/** Without its WORK a worker would delay the others; without its PAUSE it would work on in a round that is over. */
function notNotified(
	facts: Facts,
	{ localRank, problem }: NotNotified,
): Learnt {
	if (facts.phase === "RUNNING") {
		const what = `cannot be told to work: ${problem}`;
		return failed(facts, givenUp(facts, localRank, what));
	}
	const slot = facts.workers.find((one) => one.localRank === localRank);
	if (slot === undefined || !isKept(slot)) return { facts };
	const what = `cannot be told to pause: ${problem}; it is restarted`;
	// If the lease may end soon, there is less time than usual.
	return notKept(facts, localRank, what, slot.pause?.killAt);
}

/** It is killed at once, because it hears no SIGTERM where it is stopped or stands in C code. */
function hung(facts: Facts, input: WorkerHung): Learnt {
	const { round, stillMs, failsRun, cause = "hang", ...about } = input;
	const isThere = facts.workers.some(
		({ localRank, pid }) => localRank === input.localRank && pid === input.pid,
	);
	// The evidence may be of an earlier round, in which a kept worker had the same pid.
	const isOfRound = facts.phase === "RUNNING" && round === facts.round;
	if (!isThere || !isOfRound) return { facts };
	const exitCode = EXIT_CODES.failed;
	const failure: Failure = {
		...about,
		exitCode,
		failsRun: failsRun ? exitCode : undefined,
		isGivenUp: true,
		cause,
		unseenMs: stillMs,
	};
	return { facts, matter: { kind: "failed", failure, isHung: true } };
}

function noticed(
	facts: Facts,
	input: NoticeInput,
	context: TransitionContext,
): Learnt {
	const { notices: before } = facts;
	const notices = noticesAfter(before, input, context);
	if (notices === before) return { facts };
	if (notices !== undefined) {
		const after = shortened({ ...facts, notices }, notices, context);
		return { facts: after, matter: { kind: "noticed" } };
	}
	const words = "reason" in input ? `: ${input.reason}` : "";
	const why = `the notice was withdrawn${words}; this node stays`;
	const workers = facts.workers.map((worker) => ({
		...worker,
		noticed: false,
		ready: false,
	}));
	const after = { ...facts, notices, workers };
	return { facts: after, matter: { kind: "stays", why } };
}

function noticesAfter(
	before: PendingNotices | undefined,
	input: NoticeInput,
	context: TransitionContext,
): PendingNotices | undefined {
	if (input.kind === "noticed") {
		return withNotice(before, input.notice, context);
	}
	const left = before && withoutOrigin(before, input);
	return left?.length === before?.length ? before : left;
}

/** An earlier deadline leaves less time to workers that end, or are held. */
function shortened(
	facts: Facts,
	notices: PendingNotices,
	context: TransitionContext,
): Facts {
	if (facts.phase !== "STOPPING") return facts;
	const latest = killAtWith(notices, context);
	const workers = facts.workers.map((worker) =>
		isEnding(worker) ? toEnd(worker, latest) : worker,
	);
	if (facts.holds === undefined) return { ...facts, workers };
	const { until, killAt } = holdWith(notices, context);
	const holds = {
		until: Math.min(until, facts.holds.until),
		killAt: Math.min(killAt, facts.holds.killAt),
	};
	return { ...facts, workers, holds };
}
