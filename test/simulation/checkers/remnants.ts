import { type Checker, undisturbedFrom } from "../history.js";

/** Beside the grace: the ways of the news and of the signals, in milliseconds. */
const SLACK_MS = 500;

/** What a worker leaves behind in its process group is ended when the stop grace is over. */
export const remnants: Checker = {
	name: "remnants",
	*check(history) {
		// A round that is left meanwhile gives all of its workers the grace once more.
		const boundMs = 2 * history.shutdownTimeoutMs + SLACK_MS;
		for (const worker of history.workers) {
			const { leaderEndedAt, endedAt, process, pid, stuckAt } = worker;
			if (leaderEndedAt === null || process.endedAt !== null) continue;
			if (stuckAt !== null) continue;
			const by = undisturbedFrom(process, leaderEndedAt, boundMs) + boundMs;
			if ((endedAt ?? history.endedAt) <= by) continue;
			yield { at: by, what: `what worker ${pid} left behind lives on` };
		}
	},
};
