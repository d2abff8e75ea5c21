import { EXIT_CODES } from "../../base/errors.js";
import { formatCount } from "../../base/units.js";
import { isWorthARound } from "../../notices/index.js";
import type { RoundView } from "../../rendezvous/index.js";
import { policyFailure, policyOnChange, withFailure } from "./failure.js";
import type { TransitionContext } from "./inputs.js";
import {
	type Answer,
	carryOut,
	type Decision,
	isFree,
	isOfOthers,
	leaveAndHold,
	pauseAll,
	type Row,
	restartAll,
	scaleDown,
	stopping,
} from "./moves.js";
import { type Facts, isClear, nextClaim, seatOf } from "./state.js";
import {
	freshSlot,
	isEnding,
	isPaused,
	isUnexplained,
	toEnd,
	toNextRound,
	toWorking,
	type WorkerSlot,
} from "./worker.js";

/** The lease cannot be relied on: the others may soon go on without this node, and those of its workers that are not paused must be dead by then. */
export const cutOff: Answer<"session-lost"> = (facts, context, lost) => {
	const { reason, fenceAt } = lost;
	if (facts.phase !== "RUNNING") {
		// Workers that were to keep their time have no more than the others.
		const workers = facts.workers.map((worker) =>
			worker.status === "running" || isEnding(worker) || isUnexplained(worker)
				? toEnd(worker, fenceAt)
				: worker,
		);
		return { facts: { ...facts, workers }, why: reason };
	}
	const fenced = { ...facts, fencedIn: facts.round };
	const { workers } = policyOnChange(facts, "SCALE_DOWN", reason, context);
	const call = scaleDown(reason, context);
	const killAt = Math.min(fenceAt, call.killAt);
	return workers === "pause"
		? pauseAll(fenced, { ...call, killAt }, context)
		: restartAll(fenced, killAt, reason, context);
};

/** Leaves the round because the world changes, as the policy decides. */
function leaveRound(
	facts: Facts,
	change: "SCALE_UP" | "SCALE_DOWN",
	cause: string,
	context: TransitionContext,
	without?: number,
): Decision {
	const verdict = policyOnChange(facts, change, cause, context);
	const { workers, reason } = verdict;
	const account = { charge: "nothing", failsRun: EXIT_CODES.failed } as const;
	const noted =
		workers === "fail-run"
			? withFailure(facts, policyFailure(reason), account, context)
			: facts;
	const call = { ...scaleDown(reason, context, without), change };
	return carryOut(noted, verdict, call, context);
}

export const endedLate: Answer<"ended-late"> = (
	facts,
	context,
	{ localRank, why },
) => {
	return leaveRound(facts, "SCALE_DOWN", why, context, localRank);
};

/** The round that another role has left begins, and the workers here run on. */
export const nextOfOthers: Answer<"seen"> = (facts, context) => {
	const { phase, view, runsOnTo } = facts;
	if (phase !== "RUNNING" || view === null || !runsOnTo) return undefined;
	const { round } = view;
	const { synced, deprecated, cause } = round;
	// It never worked in a round that is over already.
	if (synced < runsOnTo || deprecated >= synced) return undefined;
	const seat = seatOf(facts);
	if (synced !== runsOnTo || seat === undefined) {
		const words = `no seat in round ${synced}`;
		return leaveRound(facts, "SCALE_DOWN", words, context);
	}
	const change = cause.changeEvent ?? "SCALE_DOWN";
	const workers = facts.workers.map((worker) =>
		worker.status === "running" ? toNextRound(worker, change) : worker,
	);
	const why = `round ${synced}: its workers run on; ${cause.reason}`;
	const after = { ...facts, seat, workers, round: synced, runsOnTo: undefined };
	return { facts: after, why };
};

/** Its finished work counts in the round that goes on without it. */
export const finishedNext: Answer<"seen"> = (facts) => {
	const { phase, view, planId } = facts;
	const { synced = 0, deprecated = 0 } = view?.round ?? {};
	if (phase !== "FINISHED") return undefined;
	const seat = seatOf(facts);
	if (synced <= deprecated || seat === undefined) return undefined;
	if (seat.planId === planId) return undefined;
	const after = { ...facts, planId: seat.planId, round: synced };
	return { facts: after, why: "", rests: true };
};

/** The round is to be left. If only another role restarts, the workers run on, and the node is ready at once. */
export const roundLeft: Answer<"seen"> = (facts, context) => {
	const { phase, view, round, notices } = facts;
	if (phase !== "RUNNING" || view === null) return undefined;
	const { deprecated, cause } = view.round;
	if (deprecated < round) return undefined;
	const { reason } = cause;
	if (notices !== undefined && !isWorthARound(notices, context.now)) {
		return leaveAndHold(facts, notices, reason, context);
	}
	if (!isOfOthers(facts, context)) {
		const change = cause.changeEvent ?? "SCALE_DOWN";
		return leaveRound(facts, change, reason, context);
	}
	const runsOnTo = nextClaim(view);
	const words = `workers run on, ready for round ${runsOnTo}: ${reason}`;
	const why = facts.runsOnTo === runsOnTo ? "" : words;
	return { facts: { ...facts, runsOnTo }, why };
};

export const finished: Row = (facts) => {
	const { phase, seat, workers } = facts;
	if (phase !== "RUNNING" || seat === null || !isClear(facts)) return undefined;
	if (workers.some(isUnexplained)) return undefined;
	return {
		facts: {
			...facts,
			phase: "FINISHED",
			planId: seat.planId,
			seat: null,
			workers: [],
			fencedIn: undefined,
			runsOnTo: undefined,
		},
		why: successWords(workers),
	};
};

function successWords(workers: readonly WorkerSlot[]): string {
	const ignored = workers.filter((worker) => worker.ignored).length;
	return ignored === 0
		? "all workers of this node succeeded"
		: `${workers.length - ignored} of ${formatCount(workers.length, "worker")} of this node succeeded; the failure of the others was ignored`;
}

/** This process has had its round: it says that it will be started again, and ends when the others know that. */
export const recreated: Row = (facts, context) => {
	const { phase, view } = facts;
	const seat = phase === "JOINING" ? seatOf(facts) : undefined;
	const isSeated = seat !== undefined && view?.round.synced === facts.claim;
	if (!isSeated && !isFree(facts, context)) return undefined;
	if (!context.isRecreated || facts.round === 0) return undefined;
	if (facts.workers.some(isPaused)) return undefined;
	if (phase === "STOPPING" && mayHaveSpent(facts, context)) return undefined;
	const left = isSeated ? { ...facts, seat, round: seat.round } : facts;
	const stopped = stopping(left, left.workers, "");
	const why = `ends, to be started again for round ${stopped.claim}`;
	const { failure, round } = stopped;
	const isOwn = failure?.failure.round === round && failure.isWish !== true;
	const leaving = {
		exitCode: EXIT_CODES.restart,
		reason: why,
		root: isOwn ? failure.failure : null,
		departure: "recreated",
		leaveBy: null,
	} as const;
	return { facts: { ...stopped, planId: undefined, leaving }, why };
};

/**
 * Whether its failure may have spent the run's budget: then it waits for the outcome. A new process could only exit with
 * that.
 */
function mayHaveSpent(
	{ round: own, failure, view }: Facts,
	{ isSpent, wallTime }: TransitionContext,
): boolean {
	if (view === null) return false;
	const { round } = view;
	const isOwn = failure?.failure.round === own && round.deprecated < own;
	const paysFor = isOwn ? failure : round.unpaid;
	return paysFor?.charge === "run" && isSpent?.(round, wallTime) === true;
}

export const ready: Row = (facts, context) => {
	const { phase, view } = facts;
	if (view === null || !isFree(facts, context)) return undefined;
	const claim = nextClaim(view);
	const hasFinished = phase === "FINISHED";
	const kept = facts.workers.filter(isPaused).length;
	const note = kept === 0 ? "" : ` (${formatCount(kept, "worker")} paused)`;
	return {
		facts: {
			...facts,
			phase: "JOINING",
			claim,
			planId: undefined,
			awaitsWorkersMs: undefined,
			secondSignal: undefined,
		},
		why: hasFinished
			? `claims round ${claim}: ${view.round.cause.reason}`
			: `ready for round ${claim}${note}`,
		isWeak: true,
	};
};

export const passed: Row = (facts) => {
	const { phase, view, claim } = facts;
	if (phase !== "JOINING" || view === null) return undefined;
	const { deprecated, cause } = view.round;
	return deprecated < claim ? undefined : claimNext(facts, view, cause.reason);
};

function claimNext(facts: Facts, view: RoundView, reason: string): Decision {
	const claim = nextClaim(view);
	const because = facts.claim === 0 ? "" : `: ${reason}`;
	const why = `claims round ${claim}${because}`;
	return { facts: { ...facts, claim, cause: undefined }, why };
}

export const seated: Row = (facts) => {
	const { phase, view, claim } = facts;
	const seat = seatOf(facts);
	if (phase !== "JOINING" || view === null || !seat) return undefined;
	const { synced, world } = view.round;
	if (synced !== claim) return undefined;
	const { firstRank, localWorldSize } = seat;
	const workers = Array.from({ length: localWorldSize }, (_, localRank) => {
		const former = facts.workers.find((one) => one.localRank === localRank);
		return former !== undefined && isPaused(former)
			? toWorking(former)
			: freshSlot(localRank, former);
	});
	const last = firstRank + localWorldSize - 1;
	const ranks =
		localWorldSize === 1 ? `rank ${last}` : `ranks ${firstRank}-${last}`;
	const round = { seat, workers, round: synced, cause: undefined };
	const why = `round ${synced}: ${ranks} of ${world?.worldSize ?? 0}`;
	return { facts: { ...facts, ...round, phase: "RUNNING" }, why };
};

/** The round that it claims has begun without it. A node that was cut off learns why. */
export const spare: Row = (facts) => {
	const { phase, view, claim, round, fencedIn } = facts;
	if (phase !== "JOINING" || view === null) return undefined;
	const { synced } = view.round;
	if (synced < claim) return undefined;
	const reason = `no seat in round ${synced}: waits as a spare`;
	const warning = `this node was cut off from etcd in round ${round}, so the others went on without it; it waits as a spare until a round has a place for it. If a node has finished its work by now, no further round begins, and this node runs nothing until the end`;
	const warnings = fencedIn === round ? [warning] : [];
	return { ...claimNext(facts, view, reason), warnings };
};
