import {
	type Checker,
	type History,
	lifts,
	type RoundCommit,
	type WorkerHistory,
} from "../history.js";
import { lateFor, stintsOf, type Told } from "../worker-history.js";

/** Between the writing of a file and its being seen where a poll has to find it, in milliseconds. */
const UNSEEN_MS = 1_500;

/**
 * Policies that pause: a change of the world alone costs no worker its process,
 * unless it cannot be paused: it never said HELLO, is not told, does not answer, or
 * neither ends nor waits for work where one in its place had ended too late. Nor does
 * one survive that has ended for a notice, though that was withdrawn later.
 */
export const survivors: Checker = {
	name: "survivors",
	*check(history) {
		const lifted = lifts(history);
		const stints = stintsOf(history.workers);
		for (const [index, lift] of lifted.entries()) {
			const before = lifted[index - 1];
			if (before?.round.instance !== lift.round.instance) continue;
			if (wasAnIncident(before, lift, history)) continue;
			for (const [nodeId, { incarnation }] of lift.seats) {
				if (before.seats.get(nodeId)?.incarnation !== incarnation) continue;
				const of = (round: number) =>
					stints.filter(
						(stint) =>
							stint.round === round &&
							stint.instance === lift.round.instance &&
							stint.worker.process.incarnation === incarnation,
					);
				const after = of(lift.round.synced).map(({ worker }) => worker);
				for (const { worker } of of(before.round.synced)) {
					if (after.length === 0 || after.includes(worker)) continue;
					if (mayEnd(worker, history)) continue;
					if (siblingFailed(worker, history)) continue;
					yield {
						at: worker.leaderEndedAt ?? history.endedAt,
						what: `worker ${worker.pid} of ${incarnation} did not survive from round ${before.round.synced} to ${lift.round.synced}`,
					};
				}
			}
		}
	},
};

/** Something failed, or seemed to, between these two. */
function wasAnIncident(
	before: RoundCommit,
	lift: RoundCommit,
	{ commits }: History,
): boolean {
	return commits.some(
		({ at, round }) =>
			at > before.at &&
			at <= lift.at &&
			round.accounted.length > before.round.accounted.length &&
			round.synced === before.round.synced,
	);
}

/** Under policies that start a whole node again the failure of one ends the others, also where nobody has heard of it yet. */
function siblingFailed(
	{ process, stints }: WorkerHistory,
	history: History,
): boolean {
	const round = stints.at(-1)?.round;
	return history.workers.some(
		(worker) =>
			worker.process === process &&
			(worker.failed || isLate(worker, history)) &&
			worker.stints.at(-1)?.round === round,
	);
}

/** It has not acknowledged PAUSE in time, or not so that its agent had to see it. */
function isLate(
	worker: WorkerHistory,
	{ pauseTimeoutMs, endedAt }: History,
): boolean {
	return lateFor(worker, pauseTimeoutMs - UNSEEN_MS, endedAt).length > 0;
}

function mayEnd(worker: WorkerHistory, history: History): boolean {
	const { signalledAt, leaderEndedAt, greetedAt, untoldAt } = worker;
	const endedByItself =
		leaderEndedAt !== null && (signalledAt ?? leaderEndedAt) >= leaderEndedAt;
	const wasDeaf =
		greetedAt === null || greetedAt + UNSEEN_MS >= (signalledAt ?? 0);
	const { frozen, noticed } = worker.process;
	const wasFrozen = frozen.length > 0;
	const hadNotice = noticed.some((at) => at <= (signalledAt ?? at));
	return (
		endedByItself ||
		wasDeaf ||
		wasFrozen ||
		hadNotice ||
		untoldAt !== null ||
		isLate(worker, history) ||
		isGivenUp(worker, history)
	);
}

/** One in its place had ended with 0 behind a PAUSE, and it has neither ended nor waited for work in the time for that. */
function isGivenUp(
	{ process, localRank, startedAt, signalledAt, told, waited }: WorkerHistory,
	{ workers, pauseTimeoutMs }: History,
): boolean {
	const pausedAt = told.filter(isPause).at(-1)?.at;
	if (pausedAt === undefined || signalledAt === null) return false;
	return (
		signalledAt >= pausedAt + pauseTimeoutMs - UNSEEN_MS &&
		!waited.some((at) => at >= pausedAt && at + UNSEEN_MS < signalledAt) &&
		workers.some(
			(other) =>
				other.process === process &&
				other.localRank === localRank &&
				other.startedAt < startedAt &&
				other.succeeded &&
				other.told.some(isPause),
		)
	);
}

const isPause = ({ kind }: Told) => kind === "PAUSE";
