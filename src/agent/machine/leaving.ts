import { EXIT_CODES } from "../../base/errors.js";
import {
	isTermDue,
	isWorthARound,
	leavingFor,
	noticeInWords,
	TOO_LATE,
} from "../../notices/index.js";
import { policyOnChange } from "./failure.js";
import type { StopAsked, TransitionContext } from "./inputs.js";
import {
	type Answer,
	close,
	type Decision,
	endAll,
	graceOf,
	isFree,
	isLeftByFinished,
	leave,
	leaveAndHold,
	leaveNow,
	leavingWith,
	pauseAll,
	type Row,
	restartAll,
	scaleDown,
} from "./moves.js";
import {
	type Ending,
	endingOf,
	type Facts,
	isClear,
	type Leaving,
	leftWith,
} from "./state.js";
import {
	isDue,
	isEnding,
	isGone,
	isHeld,
	isKept,
	isPaused,
	isUnexplained,
	localRanks,
	toKilled,
	type WorkerSlot,
} from "./worker.js";

/** How long a leaving agent waits until the others know what they need, in milliseconds. */
const LEAVE_PATIENCE_MS = 2_000;
/** How long its record stays readable if it had left the round before it was asked to go, in milliseconds. */
const LAST_WORD_MS = 500;

export const over: Row = (facts, context) => {
	const ending = endingSeen(facts);
	if (ending === undefined) return undefined;
	const { phase, workers, holds, leaving } = facts;
	const isStopping = phase === "STOPPING";
	const mustEnd = isStopping
		? holds !== undefined || workers.some(isUntold)
		: phase === "RUNNING" || workers.some(isPaused);
	if (!mustEnd) return isClear(facts) ? close(facts, ending) : undefined;
	const { outcome, exitCode, reason, root } = ending;
	const left = leavingWith(facts, { exitCode, reason, root });
	const why = isStopping ? leaving : outcome === "left" ? left : undefined;
	const after = { ...facts, leaving: why, holds: undefined };
	return endAll(after, holds?.killAt ?? graceOf(facts, context), reason);
};

function endingSeen({ phase, view, instance, failure }: Facts) {
	if (view === null) return undefined;
	const { round, seat } = view;
	if (instance !== null && instance !== round.instance) {
		const words = `instance ${round.instance} instead of ${instance}`;
		const reason = `the run was restarted meanwhile, or etcd came back from an older copy (${words})`;
		return leftWith(EXIT_CODES.rendezvous, reason);
	}
	if (round.outcome !== null) return endingOf(round.outcome);
	if (phase !== "JOINING" || seat === null || !("refused" in seat)) return;
	const { replaceNode } = EXIT_CODES;
	return leftWith(replaceNode, seat.refused, failure?.failure);
}

/** A worker that does not end yet, and for which no round follows. */
function isUntold(worker: WorkerSlot): boolean {
	return isKept(worker) || (isUnexplained(worker) && !isGone(worker));
}

export const stopAtOnce: Answer<"stop-asked"> = (facts, context, asked) => {
	if (!asked.immediately) return undefined;
	const leaving = leavingAsked(facts, asked);
	if (facts.workers.every(isGone)) return close(facts, endingBy(leaving));
	const { reason } = asked;
	const left = { ...facts, leaving, holds: undefined };
	const ended = endAll(left, graceOf(facts, context), reason).facts;
	const workers = ended.workers.map((one) => toKilled(one, context.now));
	const why = `SIGKILL: ${reason}`;
	return { facts: { ...ended, workers }, why, rests: true };
};

function endingBy({ exitCode, reason, root }: Leaving): Ending {
	return leftWith(exitCode, reason, root);
}

/** The first reason to leave stays. */
function leavingAsked(facts: Facts, { exitCode, reason }: StopAsked): Leaving {
	const { leaving } = facts;
	return leaving !== undefined && leaving.departure !== "recreated"
		? { ...leaving, isByNotice: undefined }
		: leavingWith(facts, { exitCode, reason, isAsked: true });
}

export const stop: Answer<"stop-asked"> = (facts, context, asked) => {
	const { exitCode, reason } = asked;
	const { phase, workers, holds } = facts;
	if (phase === "FINISHED") {
		return leaveFinished(facts, { exitCode, reason }, context);
	}
	if (phase !== "STOPPING") {
		const left = leave(facts, { exitCode, reason, isAsked: true }, context);
		return { ...left, facts: signalFirst(facts, left.facts, asked, context) };
	}
	const leaving = leavingAsked(facts, asked);
	const after = { ...facts, leaving, holds: undefined };
	if (holds === undefined && !workers.some(isUntold)) {
		return { facts: after, why: reason };
	}
	const ended = endAll(after, graceOf(facts, context), reason);
	return { ...ended, facts: signalFirst(facts, ended.facts, asked, context) };
};

/** Workers that end now get the launcher's own signal, and SIGTERM when half of their time is over. */
function signalFirst(
	before: Facts,
	after: Facts,
	{ signal: first }: StopAsked,
	{ now }: TransitionContext,
): Facts {
	if (first === undefined || first === "SIGTERM") return after;
	const ended = after.workers.filter(
		(one, at) => isEnding(one) && !isEnding(before.workers[at] ?? one),
	);
	if (ended.length === 0) return after;
	const killAt = Math.min(...ended.flatMap((one) => one.killAt ?? []));
	const at = now + (killAt - now) / 2;
	return {
		...after,
		secondSignal: { first, at, localRanks: localRanks(ended) },
	};
}

/** Before it leaves, the store must know that it has finished, or the others would repeat its part. */
function leaveFinished(
	facts: Facts,
	about: Pick<Leaving, "exitCode" | "reason" | "isByNotice">,
	{ now }: TransitionContext,
): Decision {
	const leaveBy = now + LEAVE_PATIENCE_MS;
	const leaving = facts.leaving ?? { ...about, leaveBy };
	const { isByNotice } = about;
	return {
		facts: { ...facts, leaving: { ...leaving, isByNotice } },
		why: `${about.reason}: goes when the store knows that its workers have succeeded`,
		isWeak: true,
	};
}

/** In no round, it would have to leave the next one at once. */
export const noTime: Row = (facts, context, matter) => {
	const { phase, notices, leaving, view } = facts;
	const isBetween = phase === "JOINING" || phase === "STOPPING";
	if (!isBetween || notices === undefined || leaving !== undefined) return;
	if (isWorthARound(notices, context.now)) return undefined;
	const kind = matter?.kind;
	const isNext =
		phase === "JOINING"
			? kind === "seen"
			: isFree(facts, context) && endingSeen(facts) === undefined;
	if (kind !== "noticed") {
		if (kind !== "due" && !isNext) return undefined;
		if (view !== null && view.round.outcome !== null) return undefined;
	}
	return leaveAndHold(facts, notices, TOO_LATE, context);
};

export const timeOver: Row = (facts, context, matter) => {
	const { phase, notices, leaving } = facts;
	if (notices === undefined || matter === undefined) return undefined;
	if (matter.kind === "ended") {
		return leaveAndHold(facts, notices, matter.why, context);
	}
	const isOver = leaving === undefined && isTermDue(notices, context.now);
	if (matter.kind !== "due" || !isOver || phase === "JOINING") return undefined;
	if (phase !== "FINISHED") {
		return leaveNow(facts, notices, "the time of the workers is over", context);
	}
	const about = { ...leavingFor(notices), isByNotice: true };
	return leaveFinished(facts, about, context);
};

export const allReady: Answer<"saved"> = (facts, context) => {
	const { phase, notices, workers } = facts;
	if (phase !== "RUNNING" || notices === undefined) return undefined;
	if (workers.some(isHeld)) return undefined;
	return leaveNow(facts, notices, "all workers are ready to end", context);
};

export const noticed: Answer<"noticed"> = (facts, { now }) => {
	const { notices } = facts;
	if (notices === undefined) return undefined;
	return { facts, why: noticeInWords(notices, now), rests: true };
};

/** No notice holds any more: the node goes on as if there had been none, if it has not left yet. */
export const machineStays: Answer<"stays"> = (facts, context, { why }) => {
	const { phase, leaving, holds } = facts;
	if (!leaving?.isByNotice) return { facts, why, rests: true };
	const after = { ...facts, leaving: undefined, holds: undefined };
	if (phase === "FINISHED") return { facts: after, why, rests: true };
	// The others have left its round. Workers that need not end may have the only copy of what the run has learnt.
	const call = scaleDown(why, context);
	const isKeeping =
		holds !== undefined &&
		policyOnChange(after, "SCALE_DOWN", why, context).workers === "pause";
	return isKeeping
		? pauseAll(after, call, context)
		: restartAll(after, call.killAt, why, context);
};

/** Workers that are not ready keep their time. When it is over, or all are ready, all get SIGTERM. */
export const holdOver: Row = (facts, { now }) => {
	const { holds, workers } = facts;
	if (holds === undefined) return undefined;
	const isOver = now >= holds.until;
	if (!isOver && workers.some(isHeld)) return undefined;
	const why = isOver
		? "the time of the workers is over"
		: "all workers are ready to end";
	return endAll({ ...facts, holds: undefined }, holds.killAt, why);
};

export const noRound: Row = (facts, context) => {
	const { phase, leaving, holds, workers } = facts;
	if (phase !== "STOPPING" || leaving === undefined) return undefined;
	if (holds !== undefined || !workers.some(isUntold)) return undefined;
	return endAll(facts, graceOf(facts, context), "no round follows");
};

/**
 * Before its lease ends, the others must know that this node's round is over, or, if it had left the round before it was
 * asked to go, that it leaves. Otherwise it would seem lost.
 */
export const leavingKnown: Row = (facts, { now }) => {
	const { phase, leaving, view, round, holds } = facts;
	if (phase !== "STOPPING" || leaving === undefined) return undefined;
	if (holds !== undefined || !isClear(facts)) return undefined;
	const { synced = 0, deprecated = 0 } = view?.round ?? {};
	const { departure, isLate, leaveBy } = leaving;
	const isKnown = departure === undefined || view?.departure === departure;
	const isLeft = isLate ? synced !== round : deprecated >= round;
	if ((isKnown && isLeft) || isDue(leaveBy, now)) {
		return close(facts, endingBy(leaving));
	}
	if (leaveBy !== null) return undefined;
	const patienceMs = isLate ? LAST_WORD_MS : LEAVE_PATIENCE_MS;
	const waits = { ...leaving, leaveBy: now + patienceMs };
	return { facts: { ...facts, leaving: waits }, why: "" };
};

export const finishedKnown: Row = (facts, context, matter) => {
	const { phase, leaving, view, planId, notices } = facts;
	if (phase !== "FINISHED") return undefined;
	const isLeft = isLeftByFinished(facts, context);
	if (leaving === undefined) {
		const isLate =
			notices !== undefined && !isWorthARound(notices, context.now);
		if (!isLeft || !isLate) return undefined;
		const { exitCode, reason } = leavingFor(notices);
		return close(facts, leftWith(exitCode, reason));
	}
	const isOver = matter?.kind === "due" && isDue(leaving.leaveBy, context.now);
	return isOver || isLeft || view?.finishedPlan === planId
		? close(facts, endingBy(leaving))
		: undefined;
};
