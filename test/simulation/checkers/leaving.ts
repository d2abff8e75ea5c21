import { LOOK_EVERY_MS } from "../../../src/rendezvous/look-loop.js";
import { type Checker, type History, undisturbedFrom } from "../history.js";

/** Beside messages: the time in which an agent is back at a store that answers again, and a kill takes. */
const SLACK_MS = 3_000;

/** No worker runs in a round that was left longer ago than the stop grace and the way of a message. */
export const leaving: Checker = {
	name: "leaving",
	*check(history) {
		const { commits, workers, shutdownTimeoutMs, slowestMessageMs } = history;
		const boundMs =
			shutdownTimeoutMs + LOOK_EVERY_MS + 4 * slowestMessageMs + SLACK_MS;
		for (const worker of workers) {
			if (worker.stuckAt !== null) continue;
			const round = worker.rounds.at(-1) ?? 0;
			const begun = commits.findLast(
				(commit) =>
					commit.at <= worker.startedAt &&
					commit.round.instance === worker.instance,
			);
			const left = commits.find(
				(commit) =>
					commit.wipes === begun?.wipes &&
					(commit.round.instance > worker.instance ||
						(commit.round.instance === worker.instance &&
							(commit.round.deprecated >= round ||
								commit.round.outcome !== null))),
			);
			if (left === undefined) continue;
			const from = Math.max(left.at, worker.startedAt);
			const by = undisturbedFrom(worker.process, from, boundMs) + boundMs;
			if (endOf(worker.endedAt, history) > by) {
				yield {
					at: by,
					what: `worker ${worker.pid} of ${worker.process.incarnation} still works in round ${round}, left at ${Math.round(left.at)}`,
				};
			}
		}
	},
};

function endOf(endedAt: number | null, history: History): number {
	return endedAt ?? history.endedAt;
}
