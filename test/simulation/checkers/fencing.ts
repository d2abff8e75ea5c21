import { type Checker, isWithin } from "../history.js";
import { SHORTEST_TTL_MS } from "../sim-etcd.js";
import { stintsOf, worksAt } from "../worker-history.js";

/** Who is back by this part of a lease's time sees in time that it is about to end. */
const BACK_BY = 1 / 2;

/**
 * No agent that was not frozen has workers that work after its lease has certainly
 * ended: they are dead or paused before others may go on without it. And none at
 * all lets any work before its record stands again.
 */
export const fencing: Checker = {
	name: "fencing",
	*check({ processes, workers, spec }) {
		const stints = stintsOf(workers);
		for (const { worker, from: at } of stints) {
			const { process, pid } = worker;
			const made = process.recordMade.findLast((time) => time <= at);
			const gone = process.recordGone.findLast((time) => time <= at);
			if (made !== undefined && (gone === undefined || gone < made)) continue;
			yield {
				at,
				what: `worker ${pid} of ${process.incarnation} works without a lease`,
			};
		}
		// Those that confirm their round to one another work on: see one-world.ts.
		if (spec.rideOutMs !== undefined) return;
		const ttlMs = Math.max(spec.leaseTtlMs, SHORTEST_TTL_MS);
		for (const process of processes) {
			for (const at of process.recordGone) {
				if (isWithin(process.frozen, at - BACK_BY * ttlMs, at)) continue;
				const working = stints.filter(
					(stint) =>
						stint.worker.process === process &&
						stint.worker.stuckAt === null &&
						worksAt(stint, at),
				);
				for (const { worker } of working) {
					yield {
						at,
						what: `worker ${worker.pid} of ${process.incarnation} works on without a lease`,
					};
				}
			}
		}
	},
};
