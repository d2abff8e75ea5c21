import { type Checker, lifts } from "../history.js";
import { stintsOf, worksAt } from "../worker-history.js";
import { mayOverlap } from "./one-rank-zero.js";

/** Nobody works for a round that another world has left: when a round begins, no worker of an older one works. */
export const oneWorld: Checker = {
	name: "one-world",
	*check(history) {
		const stints = stintsOf(history.workers);
		for (const { at, round } of lifts(history)) {
			const { instance, synced } = round;
			// An emptied store knows of no world before.
			if (history.wipes.some((wiped) => wiped <= at)) return;
			for (const stint of stints) {
				const isOlder =
					stint.instance < instance ||
					(stint.instance === instance && stint.round < synced);
				if (!isOlder || !worksAt(stint, at)) continue;
				if (mayOverlap(stint, at, history)) continue;
				const { pid, process } = stint.worker;
				yield {
					at,
					what: `round ${synced} began while worker ${pid} of ${process.incarnation} worked in round ${stint.round}`,
				};
			}
		}
	},
};
