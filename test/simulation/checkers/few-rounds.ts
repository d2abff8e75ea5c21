import {
	type Checker,
	type History,
	lifts,
	type RoundCommit,
} from "../history.js";
import { lateFor, type WorkerHistory } from "../worker-history.js";

/** What a worker has said may be heard so much later, in milliseconds. */
const NEWS_MS = 1_500;
/** How the round is said to be left for one that dies of an incident that is paid for … */
const LATE_DEATH = ", part of the same incident";
/** … or of a change that costs nothing. */
const FREE_DEATH = ", as its round was left: ";

/** A run has no more rounds than what happened to it explains. */
export const fewRounds: Checker = {
	name: "few-rounds",
	*check(history) {
		const lifted = lifts(history);
		const instances = new Set(lifted.map(({ round }) => round.instance));
		for (const instance of instances) {
			const rounds = lifted.filter(({ round }) => round.instance === instance);
			const last = rounds.at(-1);
			if (last === undefined) continue;
			const changes = history.processes.reduce(
				(sum, process) =>
					sum +
					1 +
					(process.endedAt === null ? 0 : 1) +
					process.recordGone.length +
					process.recordTaken.length +
					process.lossesTold.length,
				0,
			);
			const allowed =
				changes +
				last.round.incidents +
				tooLate(rounds) +
				unheard(instance, history) +
				1;
			if (rounds.length > allowed) {
				yield {
					at: last.at,
					what: `${rounds.length} rounds, but only ${changes} changes and ${last.round.incidents} incidents`,
				};
			}
		}
	},
};

/**
 * Workers that were started again because they had not acknowledged a PAUSE, or had ended
 * well before they went on in another round, and late deaths of what had ended the round before.
 */
function unheard(
	instance: number,
	{ commits, workers, pauseTimeoutMs, endedAt }: History,
): number {
	const late = workers.filter(
		(worker) => lateFor(worker, pauseTimeoutMs - NEWS_MS, endedAt).length > 0,
	);
	const ended = workers.filter(
		(worker) =>
			worker.succeeded &&
			worker.stints.length > 1 &&
			mayBeBehind(worker, pauseTimeoutMs),
	);
	const roundsLeft = (isMeant: (reason: string) => boolean) =>
		new Set(
			commits
				.filter(({ round }) => round.instance === instance)
				.filter(({ round }) => isMeant(round.cause.reason))
				.map(({ round }) => round.deprecated),
		).size;
	// Each of them is the end of a worker that was kept, and is started again then.
	const kept = workers.filter(
		({ stints, succeeded, leaderEndedAt }) =>
			stints.length > 1 && !succeeded && leaderEndedAt !== null,
	);
	const deaths =
		roundsLeft((reason) => reason.endsWith(LATE_DEATH)) +
		Math.min(
			kept.length,
			roundsLeft((reason) => reason.includes(FREE_DEATH)),
		);
	return late.length + ended.length + deaths;
}

/** Whether it has ended without having heard of its last round, or soon after the PAUSE before and never waited for work since. */
function mayBeBehind(
	{ told, waited, leaderEndedAt }: WorkerHistory,
	pauseTimeoutMs: number,
): boolean {
	const last = told.at(-1);
	const paused = told.findLast(({ kind }) => kind === "PAUSE");
	const work = told.findLast(({ kind }) => kind === "WORK");
	if (work?.acknowledgedAt === null) return true;
	if (leaderEndedAt === null || !paused || last !== work) return false;
	return (
		leaderEndedAt <= paused.at + pauseTimeoutMs + NEWS_MS &&
		!waited.some((at) => at >= paused.at)
	);
}

/** Members that lived but were not ready in time: the round went on without them, and they come back. */
function tooLate(rounds: readonly RoundCommit[]): number {
	let count = 0;
	for (const [index, { seats, nodes }] of rounds.entries()) {
		for (const [nodeId, seat] of rounds[index - 1]?.seats ?? []) {
			const lives = nodes.get(nodeId)?.incarnation === seat.incarnation;
			if (lives && !seats.has(nodeId)) count += 1;
		}
	}
	return count;
}
