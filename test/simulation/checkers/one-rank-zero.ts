import {
	type Checker,
	type History,
	isWithin,
	type WorkerHistory,
} from "../history.js";

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
		const { workers, spec, endedAt: end } = history;
		const zeros = workers.filter(({ rank }) => rank === 0);
		for (const [index, newer] of zeros.entries()) {
			const at = newer.startedAt;
			for (const older of zeros.slice(0, index)) {
				if ((older.leaderEndedAt ?? end) <= at) continue;
				if (isExcused(older, at, spec.leaseTtlMs)) continue;
				if (isLeaving(older, at, history)) continue;
				if (isRefused(older, at, history)) continue;
				if (isGivenUp(older, at, history)) continue;
				yield {
					at,
					what: `rank 0 started as worker ${newer.pid} of ${newer.process.incarnation} while worker ${older.pid} of ${older.process.incarnation} was rank 0`,
				};
			}
		}
	},
};

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
	return (last?.budgets.get(process.nodeId) ?? 0) > spec.maxRestarts;
}

/** Its round was left, and it was waited for in vain: messages to it got lost. */
function isGivenUp(
	{ process, instance, rounds }: WorkerHistory,
	at: number,
	{ commits, spec }: History,
): boolean {
	const round = rounds.at(-1) ?? 0;
	const left = commits.find(
		(commit) =>
			commit.round.instance === instance && commit.round.deprecated >= round,
	);
	return (
		left !== undefined &&
		at - left.at >= spec.settleTimeoutMs &&
		isWithin(process.disturbed, left.at - spec.leaseTtlMs, at)
	);
}
