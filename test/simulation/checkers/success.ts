import { type Checker, lifts } from "../history.js";
import { stintsOf } from "../worker-history.js";

/**
 * A run succeeds only when every member of its last round has done its part: all of its workers have succeeded or,
 * where the policy ignores failures, one has, and the others have ended.
 */
export const success: Checker = {
	name: "success",
	*check(history) {
		const { commits, workers } = history;
		const stints = stintsOf(workers);
		for (const { at, round } of commits) {
			if (round.outcome?.result !== "succeeded") continue;
			const lift = lifts(history).findLast(
				(commit) => commit.round.instance === round.instance,
			);
			for (const [nodeId, seat] of lift?.seats ?? []) {
				const ended = stints.filter(
					({ worker, ...stint }) =>
						worker.process.incarnation === seat.incarnation &&
						stint.instance === round.instance &&
						stint.round === round.synced &&
						(worker.endedAt ?? at) <= at,
				);
				const hasOne = ended.some(({ worker }) => worker.succeeded);
				const mayFail = history.policy === "ignore" && hasOne;
				for (let rank = 0; rank < seat.localWorldSize; rank++) {
					const done = ended.some(
						({ worker }) =>
							worker.localRank === rank &&
							(worker.succeeded || (mayFail && worker.failed)),
					);
					if (!done) {
						yield {
							at,
							what: `success, but local rank ${rank} of ${nodeId} has not succeeded in round ${round.synced}`,
						};
					}
				}
			}
		}
	},
};
