import type { Checker } from "../history.js";

/** Hard policy: no worker process sees two rounds. */
export const oneRoundAProcess: Checker = {
	name: "one-round-a-process",
	*check({ workers }) {
		for (const { pid, rounds, startedAt } of workers) {
			if (rounds.length === 1) continue;
			yield {
				at: startedAt,
				what: `worker ${pid} saw rounds ${rounds.join(", ")}`,
			};
		}
	},
};
