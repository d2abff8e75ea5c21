import { type Checker, lifts } from "../history.js";
import { stintsOf } from "../worker-history.js";

/** A run succeeds only when every member of its last round has done its part. */
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
				for (let rank = 0; rank < seat.localWorldSize; rank++) {
					const done = stints.some(
						({ worker, ...stint }) =>
							worker.process.incarnation === seat.incarnation &&
							stint.instance === round.instance &&
							stint.round === round.synced &&
							worker.localRank === rank &&
							worker.succeeded &&
							(worker.endedAt ?? at) <= at,
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
