import type { Checker } from "../history.js";
import { stintsOf } from "../worker-history.js";

/** Policies under which finished nodes stay so: none of their workers ever works again in that start of the run. */
export const stayFinished: Checker = {
	name: "stay-finished",
	*check({ records, workers, spec }) {
		if (!spec.finishedStay) return;
		const stints = stintsOf(workers);
		for (const { at, nodeId, record } of records) {
			if (record?.state !== "finished") continue;
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
