import type { Checker } from "../history.js";
import { stintsOf } from "../worker-history.js";

/** Policies under which finished nodes stay so: they join no round again, and none of their workers works again, in that start of the run. */
export const stayFinished: Checker = {
	name: "stay-finished",
	*check({ records, workers, spec, commits }) {
		if (!spec.finishedStay) return;
		const stints = stintsOf(workers);
		for (const [index, { at, nodeId, record }] of records.entries()) {
			if (record?.state !== "finished") continue;
			// What was frozen meanwhile may have done its part of a round that is long over.
			const newest = commits.findLast((commit) => commit.at <= at)?.round;
			if ((newest?.synced ?? 0) > record.claim) continue;
			const next = records
				.slice(index + 1)
				.find((change) => change.record?.incarnation === record.incarnation);
			if (next?.record?.state === "ready") {
				yield { at: next.at, what: `${nodeId} had finished, and joins again` };
			}
			const again = stints.find(
				({ from, instance, worker }) =>
					from > at &&
					instance === record.instance &&
					worker.process.nodeId === nodeId,
			);
			if (again === undefined) continue;
			yield {
				at: again.from,
				what: `${nodeId} had finished round ${record.claim}, and works in round ${again.round}`,
			};
		}
	},
};
