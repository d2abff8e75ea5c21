import { EXIT_CODES } from "../../base/errors.js";
import type { WorldChangeEvent } from "../../channel/index.js";
import {
	holdWith,
	inTime,
	killAtWith,
	leavingFor,
	type PendingNotices,
} from "../../notices/index.js";
import type { Verdict } from "../../policies/index.js";
import type { Matter, TransitionContext } from "./inputs.js";
import {
	type Ending,
	type Facts,
	isClear,
	isMember,
	type Leaving,
	leftWith,
	nextClaim,
} from "./state.js";
import {
	isEnding,
	isGone,
	isHeld,
	isKept,
	isUnexplained,
	toEnd,
	toPausing,
	toWaiting,
	type WorkerSlot,
	withTimes,
} from "./worker.js";

/** What follows from the first row of the table that holds. */
export interface Decision {
	readonly facts: Facts;
	/** In words, for the log. */
	readonly why: string;
	readonly warnings?: readonly string[];
	/** A later decision for the same input has better words. */
	readonly isWeak?: boolean;
	/** Nothing follows from it before the next input. */
	readonly rests?: boolean;
}

/** A row of the table: undefined if it does not hold. */
export type Row<Answered = Matter | undefined> = (
	facts: Facts,
	context: TransitionContext,
	matter: Answered,
) => Decision | undefined;

/** A row that holds only for a matter of this kind. */
export type Answer<Kind extends Matter["kind"]> = Row<Matter & { kind: Kind }>;

/** When workers that must end now are killed: their grace is over, or the machine goes. */
export function graceOf(
	{ notices }: Facts,
	{ now, shutdownTimeoutMs }: TransitionContext,
): number {
	return inTime(now + shutdownTimeoutMs, notices, now);
}

/** The node has left its round, with these workers. */
export function stopping(
	facts: Facts,
	workers: readonly WorkerSlot[],
	why: string,
): Facts {
	const { phase, view, round, cause } = facts;
	const isNews = (view?.round.deprecated ?? 0) < round;
	const first = isNews ? why : undefined;
	return {
		...facts,
		phase: "STOPPING",
		workers,
		claim: view === null ? round + 1 : nextClaim(view),
		cause: phase === "RUNNING" ? first : cause,
		runsOnTo: undefined,
	};
}

/** All workers end, including paused ones: SIGTERM now, SIGKILL at `killAt`. */
export function endAll(facts: Facts, killAt: number, why: string): Decision {
	const workers = facts.workers.map((worker) => toEnd(worker, killAt));
	return { facts: stopping(facts, workers, why), why };
}

/** All workers end, and another round follows, if the node does not leave already. */
export function restartAll(
	facts: Facts,
	wanted: number,
	why: string,
	{ now }: TransitionContext,
): Decision {
	const killAt = inTime(wanted, facts.notices, now);
	return endAll(withLeaving(facts, undefined), killAt, why);
}

/** The first reason to leave stays, but for that of a process which is to be started again. */
export function withLeaving(
	facts: Facts,
	leaving: Leaving | undefined,
	holds?: Facts["holds"],
): Facts {
	const { phase, leaving: before } = facts;
	const isFinal = before !== undefined && before.departure !== "recreated";
	return phase === "STOPPING" && isFinal ? facts : { ...facts, leaving, holds };
}

/** Ends this agent's part. */
export function close(facts: Facts, ending: Ending): Decision {
	const { view, instance, failure, failuresReported, round, claim } = facts;
	return {
		facts: {
			phase: "CLOSED",
			view,
			instance,
			failure,
			failuresReported,
			round,
			claim,
			seat: null,
			workers: [],
			ending,
		},
		why: ending.reason,
	};
}

type Departing = Omit<Leaving, "leaveBy" | "isLate">;

export function leavingWith(facts: Facts, why: Departing): Leaving {
	const isLeft = facts.phase !== "RUNNING" && isMember(facts);
	return { ...why, isLate: why.isAsked && isLeft, leaveBy: null };
}

/** Ends the workers, and then this node's part in the run. */
export function leave(
	facts: Facts,
	why: Departing,
	context: TransitionContext,
	wanted = graceOf(facts, context),
): Decision {
	const { exitCode, reason } = why;
	const leaving = leavingWith(facts, why);
	const isUnknown = facts.phase === "JOINING" && !leaving.isLate;
	if (isUnknown && facts.workers.every(isGone)) {
		return close(facts, leftWith(exitCode, reason));
	}
	const killAt = inTime(wanted, facts.notices, context.now);
	return endAll(withLeaving(facts, leaving), killAt, reason);
}

/** The same, because its machine goes. */
export function leaveNow(
	facts: Facts,
	notices: PendingNotices,
	why: string,
	context: TransitionContext,
): Decision {
	const about = { ...leavingFor(notices), isAsked: true, isByNotice: true };
	const left = leave(facts, about, context, killAtWith(notices, context));
	return { ...left, why: `${about.reason}; ${why}` };
}

/**
 * The round is over for this node, and its machine goes: the others learn that it leaves, and go on. Its workers keep
 * their time for what they want to save.
 */
export function leaveAndHold(
	facts: Facts,
	notices: PendingNotices,
	why: string,
	context: TransitionContext,
): Decision {
	if (!facts.workers.some(isHeld)) {
		return leaveNow(facts, notices, why, context);
	}
	// A wait for another round, or for an answer to PAUSE, has no end here.
	const unlimited = { leaveBy: Number.POSITIVE_INFINITY, hintAt: null };
	const workers = facts.workers.map((worker) =>
		toWaiting(withTimes(worker, unlimited), null),
	);
	const about = { ...leavingFor(notices), isAsked: true, isByNotice: true };
	const leaving = leavingWith(facts, about);
	const left = withLeaving(facts, leaving, holdWith(notices, context));
	return {
		facts: stopping(left, workers, about.reason),
		why: `${about.reason}; ${why}`,
	};
}

/** Why workers are paused. */
export interface PauseCall {
	readonly change: WorldChangeEvent;
	readonly reason: string;
	/** When workers that cannot be paused are killed. */
	readonly killAt: number;
	/** A failed worker, which is not kept. */
	readonly failed?: number | undefined;
}

/** For the other workers a failure is a scale-down, with the usual grace period. */
export function scaleDown(
	reason: string,
	{ now, shutdownTimeoutMs }: TransitionContext,
	failed?: number,
): PauseCall {
	const killAt = now + shutdownTimeoutMs;
	return { change: "SCALE_DOWN", reason, killAt, failed };
}

/**
 * Keeps the workers for the next round, with a PAUSE. A worker that has never called the runtime library cannot receive
 * it, so it is restarted.
 */
export function pauseAll(
	facts: Facts,
	{ change, reason, failed, killAt: wanted }: PauseCall,
	context: TransitionContext,
): Decision {
	const { now, pauseTimeoutMs } = context;
	const killAt = inTime(wanted, facts.notices, now);
	const leaveBy = now + pauseTimeoutMs;
	const workers = facts.workers.map((worker) => {
		const { localRank, status, attached, pause } = worker;
		if (localRank === failed) return toEnd(worker, killAt);
		// After a notice that was withdrawn, its time to answer has an end again.
		if (pause?.leaveBy === Number.POSITIVE_INFINITY) {
			return withTimes(worker, { leaveBy });
		}
		if (isKept(worker)) return worker;
		return status === "running" && attached && !isEnding(worker)
			? toPausing(worker, change, { leaveBy, killAt }, now)
			: toEnd(worker, killAt);
	});
	const told = workers.filter(
		({ events }, at) => events !== facts.workers[at]?.events,
	);
	const left = stopping(withLeaving(facts, undefined), workers, reason);
	return {
		facts: { ...left, awaitsWorkersMs: pauseTimeoutMs },
		why: reason,
		warnings: [...warningOfDeaf(facts), ...warningsOfLate(told, context)],
	};
}

function warningOfDeaf({ phase, workers }: Facts): readonly string[] {
	const isDeaf = ({ status, attached }: WorkerSlot) =>
		phase === "RUNNING" && status === "running" && !attached;
	const warning =
		"a worker that has not called the runtime library yet cannot be paused: it is restarted; let workers call getWorkerInfo() of elastic-run/runtime as soon as they start";
	return workers.some(isDeaf) ? [warning] : [];
}

/** Where one ended late, an acknowledgement is not enough. */
function warningsOfLate(
	told: readonly WorkerSlot[],
	{ pauseTimeoutMs }: TransitionContext,
): readonly string[] {
	return told
		.filter(({ endedLate }) => endedLate)
		.map(
			({ localRank }) =>
				`local rank ${localRank}: one in its place ended at PAUSE when the next round had begun; now the next round waits until this worker has ended or waits for work, for ${pauseTimeoutMs / 1_000} s at most`,
		);
}

/** Carries out the verdict of a policy or a rule. */
export function carryOut(
	facts: Facts,
	{ workers, exitCode = EXIT_CODES.replaceNode, departure }: Verdict,
	call: PauseCall,
	context: TransitionContext,
): Decision {
	const { reason, killAt, failed } = call;
	switch (workers) {
		case "restart":
		case "fail-run":
			return restartAll(facts, killAt, reason, context);
		case "pause":
		case "replace-failed":
		case "ignore":
			return pauseAll(facts, call, context);
		case "leave": {
			const root = failed === undefined ? null : facts.failure?.failure;
			return leave(facts, { exitCode, reason, root, departure }, context);
		}
		default:
			return workers satisfies never;
	}
}

/** Whether its round is over for this node, its workers are gone or paused, and it does not leave. */
export function isFree(facts: Facts, context: TransitionContext): boolean {
	const { phase, leaving, view, workers } = facts;
	if (leaving !== undefined || view === null) return false;
	if (phase === "FINISHED") return isLeftByFinished(facts, context);
	const isOver = phase === "STOPPING" && isClear(facts);
	return isOver && !workers.some(isUnexplained);
}

/** Whether the round that it has finished is left, and it takes part in the next one. */
export function isLeftByFinished(
	facts: Facts,
	context: TransitionContext,
): boolean {
	const { view, round } = facts;
	const stays = context.policy.finishedNodes === "stay";
	const isLeft = (view?.round.deprecated ?? 0) >= round;
	return isLeft && !stays && !isOfOthers(facts, context);
}

/** Whether the round is left for another role only, so that this agent's workers need not know. */
export function isOfOthers(
	{ view }: Facts,
	{ role }: TransitionContext,
): boolean {
	const roles = view?.round.cause.roles;
	return roles !== undefined && role !== undefined && !roles.includes(role);
}
