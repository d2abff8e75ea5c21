import {
	type Checker,
	type History,
	isSpent,
	isWithin,
	type ProcessHistory,
	type Stint,
	type WorkerHistory,
} from "../history.js";
import { stintsOf } from "../worker-history.js";

/** What the guard of a killed agent may take, in milliseconds. */
const GUARD_MS = 100;

/**
 * There are never two ranks 0 at once, but where the older one's agent could not
 * know that it was given up, or could not be reached for the whole settle time, or
 * leaves the run: nobody waits for who leaves, or must leave because its budget is
 * spent.
 */
export const oneRankZero: Checker = {
	name: "one-rank-zero",
	*check(history) {
		const { workers, endedAt: end } = history;
		const zeros = stintsOf(workers)
			.filter(({ rank }) => rank === 0)
			.sort((left, right) => left.from - right.from);
		for (const [index, newer] of zeros.entries()) {
			const at = newer.from;
			for (const older of zeros.slice(0, index)) {
				if ((older.pausedAt ?? older.worker.leaderEndedAt ?? end) <= at)
					continue;
				if (mayOverlap(older, at, history)) continue;
				yield {
					at,
					what: `rank 0 was given to worker ${newer.worker.pid} of ${newer.worker.process.incarnation} while worker ${older.worker.pid} of ${older.worker.process.incarnation} was rank 0`,
				};
			}
		}
	},
};

/** Whether a worker may work at this moment though others have begun a later round. */
export function mayOverlap(
	older: Stint,
	at: number,
	history: History,
): boolean {
	return (
		isExcused(older.worker, at, history.spec.leaseTtlMs) ||
		isForgotten(older.worker, at, history) ||
		isLeaving(older.worker, at, history) ||
		isRefused(older.worker, at, history) ||
		isGivenUp(older, at, history)
	);
}

function isExcused(older: WorkerHistory, at: number, ttlMs: number): boolean {
	const { process, stuckAt } = older;
	const isBeingKilled =
		process.endedAt !== null &&
		process.endedAt <= at &&
		process.endedAt > at - GUARD_MS;
	return (
		stuckAt !== null ||
		isBeingKilled ||
		isWithin(process.frozen, at - 2 * ttlMs, at) ||
		process.recordTaken.length > 0
	);
}

/** The keys that said that it may ride an outage out were deleted. */
function isForgotten(
	{ process }: WorkerHistory,
	at: number,
	{ wipes, spec }: History,
): boolean {
	const { recordGone } = process;
	return (
		spec.rideOutMs !== undefined &&
		wipes.some(
			(wiped) => wiped <= at && recordGone.some((gone) => gone < wiped),
		)
	);
}

function isLeaving(
	{ process }: WorkerHistory,
	at: number,
	{ records }: History,
): boolean {
	const { nodeId, incarnation } = process;
	return records.some(
		(change) =>
			change.at <= at &&
			change.nodeId === nodeId &&
			change.record?.incarnation === incarnation &&
			change.record.state === "leaving",
	);
}

function isRefused(
	{ process }: WorkerHistory,
	at: number,
	{ commits, spec }: History,
): boolean {
	const last = commits.findLast((commit) => commit.at <= at);
	return last !== undefined && isSpent(last, process.nodeId, spec);
}

/** Its round was left, and it was waited for in vain: messages to it got lost. */
function isGivenUp(
	{ worker: { process }, instance, round }: Stint,
	at: number,
	{ commits, spec }: History,
): boolean {
	const left = commits.find(
		(commit) =>
			commit.round.instance === instance && commit.round.deprecated >= round,
	);
	return (
		left !== undefined &&
		holdsRecord(process, at) &&
		at - left.at >= spec.settleTimeoutMs &&
		isWithin(process.disturbed, left.at - spec.leaseTtlMs, at)
	);
}

function holdsRecord(
	{ recordMade, recordGone }: ProcessHistory,
	at: number,
): boolean {
	const made = recordMade.findLast((time) => time <= at) ?? -1;
	const gone = recordGone.findLast((time) => time <= at) ?? -1;
	return made > gone;
}
