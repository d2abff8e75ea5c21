import type { Checker } from "../history.js";
import { roundsOf } from "../worker-history.js";

/** Hard policy: no worker process sees two rounds. */
export const oneRoundAProcess: Checker = {
	name: "one-round-a-process",
	*check({ workers }) {
		for (const worker of workers) {
			if (worker.stints.length === 1) continue;
			yield {
				at: worker.startedAt,
				what: `worker ${worker.pid} saw rounds ${roundsOf(worker)}`,
			};
		}
	},
};
