import { EXIT_CODES } from "../../base/errors.js";
import { killAtWith } from "../../notices/index.js";
import type { Verdict } from "../../policies/index.js";
import {
	dueFailure,
	givenUp,
	policyOnChange,
	policyOnFailure,
	verdictOn,
	withFailure,
} from "./failure.js";
import type { Failure, TransitionContext } from "./inputs.js";
import {
	type Answer,
	carryOut,
	close,
	type Decision,
	endAll,
	graceOf,
	leave,
	leaveAndHold,
	pauseAll,
	restartAll,
	scaleDown,
	stopping,
} from "./moves.js";
import { type Facts, leftWith, rankOf } from "./state.js";
import {
	HINT_AFTER_MS,
	isDue,
	isGone,
	localRanks,
	NEWS_MS,
	REQUEST_AFTER_MS,
	toEnd,
	toGone,
	toKilled,
	toWaiting,
	UNKILLABLE_AFTER_MS,
	update,
	type WorkerSlot,
	withKill,
	withTimes,
} from "./worker.js";

/** An agent so late for the deadline of a PAUSE, in milliseconds, was stopped itself. */
const STOPPED_MS = 1_000;
const WAIT_RULE =
	"a worker that has taken its round with getWorkerInfo() and then calls waitForWork() waits for the next round";
const WAIT_FIX =
	"call waitForWork() only after a PAUSE or an error of a peer, or pass the last round that was worked in as afterRound";

/** A worker has failed: the agent reports it, its policy decides, the coordinator charges. */
export const failed: Answer<"failed"> = (
	facts,
	context,
	{ failure, isHung },
) => {
	const { localRank } = failure;
	const decision = answerTo(facts, failure, context);
	const slot = facts.workers.find((one) => one.localRank === localRank);
	// Another one may have ended with 0, while the rest waits for it.
	if (!isHung || slot?.status !== "running") return decision;
	const workers = update(decision.facts.workers, localRank, withKill);
	return { ...decision, facts: { ...decision.facts, workers } };
};

export const notExplained: Answer<"due"> = (facts, context) => {
	const failure = dueFailure(facts, context.now);
	return failure && answerTo(facts, failure, context);
};

function answerTo(
	facts: Facts,
	failure: Failure,
	context: TransitionContext,
): Decision {
	const { localRank, description } = failure;
	const { notices } = facts;
	const cause = `rank ${rankOf(facts, localRank)} failed: ${description}`;
	if (notices !== undefined) {
		// Its machine goes, so that its failure is no incident. The worker ends if it has not ended.
		const killAt = killAtWith(notices, context);
		const workers = update(facts.workers, localRank, (one) =>
			toEnd(one, killAt),
		);
		return leaveAndHold({ ...facts, workers }, notices, cause, context);
	}
	const asked = verdictOn(facts, failure, cause, context);
	if (asked === undefined) return giveUp(facts, failure, cause, context);
	const isIgnored = asked.workers === "ignore";
	if (isIgnored && canGoOnWithout(facts, failure)) {
		return goOnWithout(facts, localRank, cause, context);
	}
	const verdict: Verdict = isIgnored ? { ...asked, ...REPLACED } : asked;
	const { charge, rule, reason } = verdict;
	const exitCode = failure.failsRun ?? EXIT_CODES.failed;
	const failsRun = verdict.workers === "fail-run" ? exitCode : null;
	const account = { charge, failsRun, rule };
	const noted = withFailure(facts, failure, account, context);
	const why = reason === cause ? cause : `${cause}; ${reason}`;
	return carryOut(noted, verdict, scaleDown(why, context, localRank), context);
}

/** What follows from a failure that cannot be ignored. */
const REPLACED = { workers: "replace-failed", charge: "run" } as const;

/** Whether the worker has ended by itself, and another one of this node has succeeded or still may. */
function canGoOnWithout(
	{ phase, workers }: Facts,
	{ exit, localRank }: Failure,
): boolean {
	const isOther = (worker: WorkerSlot) =>
		worker.localRank !== localRank && !worker.ignored;
	return phase === "RUNNING" && exit !== undefined && workers.some(isOther);
}

/** What it has left behind must end. */
function goOnWithout(
	facts: Facts,
	localRank: number,
	cause: string,
	{ now, shutdownTimeoutMs }: TransitionContext,
): Decision {
	const killAt = now + shutdownTimeoutMs;
	const workers = update(facts.workers, localRank, (worker) => ({
		...worker,
		killAt: isGone(worker) ? null : (worker.killAt ?? killAt),
		unexplained: null,
		ignored: true,
	}));
	const warning = `${cause}; the others go on without it, as the policy says`;
	return { facts: { ...facts, workers }, why: "", warnings: [warning] };
}

/** A retry on this node cannot help: another node goes on, or the run fails. */
function giveUp(
	facts: Facts,
	failure: Failure,
	cause: string,
	context: TransitionContext,
): Decision {
	const { localRank, description, failsRun = EXIT_CODES.failed } = failure;
	const hasOthers = (facts.view?.round.seats ?? 0) > 1;
	if (failure.isOfNode && hasOthers) {
		const reason = `rank ${rankOf(facts, localRank)} ${description}`;
		return leave(facts, { exitCode: EXIT_CODES.replaceNode, reason }, context);
	}
	const account = { charge: "nothing", failsRun } as const;
	const noted = withFailure(facts, failure, account, context);
	return restartAll(noted, graceOf(facts, context), cause, context);
}

/** A worker died, and the reason may follow. A node that was ready for a round is not ready while it waits. */
export const unexplained: Answer<"unexplained"> = (facts, _, { why }) => {
	const { phase, workers } = facts;
	const isReady = phase === "JOINING";
	return { facts: isReady ? stopping(facts, workers, why) : facts, why };
};

/**
 * A worker waits for another round although no node has left this one: it alone has seen a failure, and requests a new
 * round. Its process is as good as the others.
 */
export const roundRequested: Answer<"due"> = (facts, context) => {
	const { now } = context;
	const worker = facts.workers.find((one) => isDue(one.waitsUntil, now));
	if (facts.phase !== "RUNNING" || worker === undefined) return undefined;
	if (facts.view?.round.cause.isWish) return waitOn(facts, worker);
	const { localRank, waitsUntil } = worker;
	const what = `waits for another round than ${facts.round}, which no node had left`;
	const why = `rank ${rankOf(facts, localRank)} ${what}`;
	const failure: Failure = {
		...givenUp(facts, localRank, what),
		hint: `${WAIT_RULE}; ${WAIT_FIX}`,
		isWish: true,
		unseenMs: now - (waitsUntil ?? now) + REQUEST_AFTER_MS,
	};
	const { charge } = policyOnFailure(facts, failure, why, context);
	const verdict = policyOnChange(facts, "SCALE_DOWN", why, context);
	const failsRun = verdict.workers === "fail-run" ? EXIT_CODES.failed : null;
	const noted = withFailure(facts, failure, { charge, failsRun }, context);
	return carryOut(noted, verdict, scaleDown(why, context), context);
};

/** Its last request brought all nodes back, and nothing has failed since: it misuses the call. */
function waitOn(facts: Facts, { localRank }: WorkerSlot): Decision {
	const { round } = facts;
	const workers = update(facts.workers, localRank, (worker) =>
		toWaiting(worker, Number.POSITIVE_INFINITY),
	);
	const warning = `rank ${rankOf(facts, localRank)} waits for another round than ${round}, and no new one begins for it: round ${round} began because a worker waited, all nodes came back, and nothing has failed since. ${WAIT_RULE}; ${WAIT_FIX}. It waits until round ${round} ends for another reason`;
	const after = { ...facts, workers };
	return { facts: after, why: "", warnings: [warning], rests: true };
}

export const overdue: Answer<"due"> = (facts, context) => {
	const { now, pauseTimeoutMs } = context;
	const isLate = ({ pause }: WorkerSlot) => isDue(pause?.leaveBy ?? null, now);
	const late = facts.workers.find(isLate);
	if (!late?.pause) return undefined;
	const { localRank, pause, heard, hasPaused } = late;
	if (now - pause.leaveBy > STOPPED_MS) {
		const workers = facts.workers.map((one) =>
			isLate(one) ? withTimes(one, { leaveBy: now + NEWS_MS }) : one,
		);
		return { facts: { ...facts, workers }, why: "", rests: true };
	}
	const rank = `rank ${rankOf(facts, localRank)}`;
	const within = `within ${pauseTimeoutMs / 1000} s`;
	if (heard >= pause.event) {
		const cause = `${rank} has neither ended nor waited for work ${within} of PAUSE: it is restarted`;
		return pauseAll(facts, scaleDown(cause, context, localRank), context);
	}
	const what = `did not acknowledge PAUSE ${within}`;
	return hasPaused
		? answerTo(facts, givenUp(facts, localRank, what), context)
		: startAnew(facts, localRank, what, context);
};

/** A worker that has never acknowledged a PAUSE may not understand it: as with deaf workers, nothing is charged. */
function startAnew(
	facts: Facts,
	localRank: number,
	what: string,
	context: TransitionContext,
): Decision {
	const cause = `rank ${rankOf(facts, localRank)} ${what}, nor any before: it is restarted`;
	const call = scaleDown(cause, context, localRank);
	const paused = pauseAll(facts, call, context);
	const warning = `a worker has not acknowledged PAUSE within ${context.pauseTimeoutMs / 1000} s, nor any before: it is restarted; receive events with waitForWork(), onWorkerEvent() or workerEvents() of elastic-run/runtime, or set --pause-timeout`;
	return { ...paused, warnings: [...(paused.warnings ?? []), warning] };
}

/** Workers have not answered their first PAUSE: the user learns once, early enough, which call may be missing. */
export const silent: Answer<"due"> = (facts, { now, pauseTimeoutMs }) => {
	const isSilent = ({ pause }: WorkerSlot) => isDue(pause?.hintAt ?? null, now);
	const [first, ...others] = facts.workers.filter(isSilent);
	if (first === undefined) return undefined;
	const wasStopped = now - (first.pause?.hintAt ?? now) > STOPPED_MS;
	const hintAt = wasStopped ? now + NEWS_MS : null;
	const workers = facts.workers.map((one) =>
		isSilent(one) ? withTimes(one, { hintAt }) : one,
	);
	const ranks = localRanks([first, ...others]).join(", ");
	const warning = `no answer to the first PAUSE for ${HINT_AFTER_MS / 1000} s from local rank ${ranks}: its program may not receive events. Let it call waitForWork(), onWorkerEvent() or workerEvents() of elastic-run/runtime, in Python wait_for_work() or on_worker_event() of elastic_run. The others wait for it, and a worker that does not acknowledge PAUSE within ${pauseTimeoutMs / 1000} s (--pause-timeout) is ended and started again`;
	const warnings = wasStopped ? [] : [warning];
	return { facts: { ...facts, workers }, why: "", warnings, rests: true };
};

/** A process survives SIGKILL: a reason to replace the node. Its other workers end first. */
export const unkillable: Answer<"due"> = (facts, context) => {
	const { now } = context;
	const due = facts.workers.filter(({ goneBy }) => isDue(goneBy, now));
	if (due.length === 0) return undefined;
	const stuck = due.filter(({ isHeardOut }) => isHeardOut);
	const rest = { goneBy: now + NEWS_MS, isHeardOut: true };
	const workers = facts.workers.map((one) => {
		if (!due.includes(one)) return one;
		return stuck.includes(one) ? toGone(one) : { ...one, ...rest };
	});
	const after = { ...facts, workers };
	if (stuck.length === 0) return { facts: after, why: "", rests: true };
	const exitCode = EXIT_CODES.replaceNode;
	const reason = [...givenUpFor(facts), stuckWords(stuck)].join("; ");
	if (facts.phase === "RUNNING") {
		return leave(after, { exitCode, reason }, context);
	}
	if (workers.every(isGone)) return close(after, leftWith(exitCode, reason));
	const leaving = { exitCode, reason, leaveBy: null };
	const left = { ...after, leaving, holds: undefined };
	return endAll(left, graceOf(facts, context), reason);
};

/** The reason for which it already leaves, if that was another such process. */
function givenUpFor({ leaving }: Facts): readonly string[] {
	return leaving?.exitCode === EXIT_CODES.replaceNode ? [leaving.reason] : [];
}

/** Names the processes that survived SIGKILL. */
function stuckWords(stuck: readonly WorkerSlot[]): string {
	const pids = stuck.map(
		({ localRank, pid }) => `pid ${pid ?? "?"} (local rank ${localRank})`,
	);
	return `not gone ${UNKILLABLE_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel or another user's: ${pids.join(", ")}`;
}

export const graceOver: Answer<"due"> = (facts, { now }) => {
	const isLate = ({ killAt }: WorkerSlot) => isDue(killAt, now);
	if (!facts.workers.some(isLate)) return undefined;
	const workers = facts.workers.map((one) =>
		isLate(one) ? toKilled(one, now) : one,
	);
	const why = "SIGKILL: the time to end is over";
	return { facts: { ...facts, workers }, why, rests: true };
};

export const secondSignal: Answer<"due"> = (facts, { now }) => {
	const { secondSignal: second, workers } = facts;
	if (second === undefined || !isDue(second.at, now)) return undefined;
	const isLeft = workers.some(
		({ localRank, killAt }) =>
			killAt !== null && second.localRanks.includes(localRank),
	);
	const why = isLeft ? "SIGTERM: half of the time to end is over" : "";
	return { facts: { ...facts, secondSignal: undefined }, why, rests: true };
};

/** It is no failure; what it has left behind must end. */
export const leftBehind: Answer<"left-behind"> = (facts, context, matter) => {
	const killAt = context.now + context.shutdownTimeoutMs;
	const workers = update(facts.workers, matter.localRank, (worker) => ({
		...worker,
		killAt: worker.killAt ?? killAt,
	}));
	return { facts: { ...facts, workers }, why: "" };
};

export const notKept: Answer<"not-kept"> = (
	facts,
	context,
	{ localRank, why, killAt },
) => {
	const call = scaleDown(why, context, localRank);
	return pauseAll(facts, { ...call, killAt: killAt ?? call.killAt }, context);
};
