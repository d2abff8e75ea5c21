import type { Checker } from "../history.js";

/** What the guard of an agent that was killed, or that an error has ended, may take, in milliseconds. */
const GUARD_MS = 100;

/** No worker outlives its agent, but one that even SIGKILL does not end. */
export const orphans: Checker = {
	name: "orphans",
	*check({ workers, endedAt: end }) {
		for (const { pid, process, endedAt, stuckAt } of workers) {
			if (process.endedAt === null || stuckAt !== null) continue;
			const orderly = process.ending !== null && !process.hasFailed;
			const by = process.endedAt + (orderly ? 0 : GUARD_MS);
			if ((endedAt ?? end) <= by) continue;
			yield {
				at: by,
				what: `worker ${pid} outlives ${process.incarnation}`,
			};
		}
	},
};
