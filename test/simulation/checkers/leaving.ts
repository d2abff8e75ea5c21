import { LOOK_EVERY_MS } from "../../../src/rendezvous/member/reconcile-loop.js";
import { type Checker, undisturbedFrom } from "../history.js";
import { stintsOf, workedUntil } from "../worker-history.js";

/** Beside messages: the time in which an agent is back at a store that answers again, and a kill takes. */
const SLACK_MS = 3_000;

/** No worker runs in a round that was left longer ago than the stop grace and the way of a message. */
export const leaving: Checker = {
	name: "leaving",
	*check(history) {
		const { commits, workers, shutdownTimeoutMs, slowestMessageMs } = history;
		const boundMs =
			shutdownTimeoutMs + LOOK_EVERY_MS + 4 * slowestMessageMs + SLACK_MS;
		for (const stint of stintsOf(workers)) {
			const { worker, round, instance } = stint;
			if (worker.stuckAt !== null) continue;
			const begun = commits.findLast(
				(commit) =>
					commit.at <= stint.from && commit.round.instance === instance,
			);
			const left = commits.find(
				(commit) =>
					commit.wipes === begun?.wipes &&
					(commit.round.instance > instance ||
						(commit.round.instance === instance &&
							(commit.round.deprecated >= round ||
								commit.round.outcome !== null))),
			);
			if (left === undefined) continue;
			const from = Math.max(left.at, stint.from);
			const by = undisturbedFrom(worker.process, from, boundMs) + boundMs;
			if ((workedUntil(stint) ?? history.endedAt) > by) {
				yield {
					at: by,
					what: `worker ${worker.pid} of ${worker.process.incarnation} still works in round ${round}, left at ${Math.round(left.at)}`,
				};
			}
		}
	},
};
