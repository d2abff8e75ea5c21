import { type Checker, type History, isWithin } from "../history.js";
import type { WorkerHistory } from "../worker-history.js";

/** Between the end of a worker and what its agent makes of it: the reason may follow, and the news has its way. */
const NEWS_MS = 1_500;

/** Where the policy ignores failures none is reported of a worker without which another one of its node could go on. */
export const ignored: Checker = {
	name: "ignored",
	*check(history) {
		if (history.policy !== "ignore") return;
		const reported = new Set<number>();
		for (const { at, record } of history.records) {
			const { failure } = record?.failure ?? {};
			const worker = history.workers.find(({ pid }) => pid === failure?.pid);
			if (worker === undefined || reported.has(worker.pid)) continue;
			reported.add(worker.pid);
			if (canBeIgnored(worker, history)) {
				const what = `failure ${failure?.id} was not ignored`;
				yield { at, what };
			}
		}
	},
};

/** It failed by itself in a round that nobody left, and one beside it did nothing of the kind. */
function canBeIgnored(failed: WorkerHistory, history: History): boolean {
	const { process, leaderEndedAt: endedAt } = failed;
	if (!failed.failed || endedAt === null) return false;
	const until = endedAt + NEWS_MS;
	if (isWithin(process.frozen, endedAt, until)) return false;
	const round = failed.stints.at(-1)?.round;
	const neighbours = history.workers.filter(
		(worker) =>
			worker.process === process && worker.stints.at(-1)?.round === round,
	);
	const isDisturbed = neighbours.some(
		({ told, signalledAt }) =>
			told.some(({ kind, at }) => kind === "PAUSE" && at <= until) ||
			(signalledAt ?? until + 1) <= until,
	);
	const goesOn = neighbours.some(
		(other) => !other.failed || (other.leaderEndedAt ?? until + 1) > until,
	);
	return goesOn && !isDisturbed;
}
