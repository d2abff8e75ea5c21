import { type Checker, isWithin } from "../history.js";

/**
 * No agent that was not frozen has running workers after its lease has certainly
 * ended, and none at all starts any before its record stands again.
 */
export const fencing: Checker = {
	name: "fencing",
	*check({ processes, workers, spec }) {
		for (const { process, startedAt: at, pid } of workers) {
			const made = process.recordMade.findLast((time) => time <= at);
			const gone = process.recordGone.findLast((time) => time <= at);
			if (made !== undefined && (gone === undefined || gone < made)) continue;
			yield {
				at,
				what: `worker ${pid} of ${process.incarnation} started without a lease`,
			};
		}
		for (const process of processes) {
			for (const at of process.recordGone) {
				if (isWithin(process.frozen, at - spec.leaseTtlMs, at)) continue;
				const working = workers.filter(
					(worker) =>
						worker.process === process &&
						worker.stuckAt === null &&
						worker.startedAt <= at &&
						(worker.endedAt === null || worker.endedAt > at),
				);
				for (const { pid } of working) {
					yield {
						at,
						what: `worker ${pid} of ${process.incarnation} lives on without a lease`,
					};
				}
			}
		}
	},
};
