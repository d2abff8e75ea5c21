import { UNKILLABLE_AFTER_MS } from "../../../src/agent/machine/worker.js";
import { EXIT_CODES } from "../../../src/base/errors.js";
import { type Checker, undisturbedFrom } from "../history.js";

/** Beside the time that a killed process has: the ways of the news, in milliseconds. */
const SLACK_MS = 1_000;

/** An agent with a worker that even SIGKILL does not end leaves with 75, and names the pid. */
export const stuck: Checker = {
	name: "stuck",
	*check({ workers, shutdownTimeoutMs, endedAt: end }) {
		for (const { stuckAt, process, pid, ...worker } of workers) {
			const { endedAt, ending, incarnation, stopsAsked } = process;
			if (stuckAt === null || (endedAt !== null && endedAt <= stuckAt))
				continue;
			// Each further wish to leave at once kills once more.
			const since = Math.max(stuckAt, ...stopsAsked);
			// Other workers may run on, and have their time to end.
			const boundMs = 2 * UNKILLABLE_AFTER_MS + shutdownTimeoutMs + SLACK_MS;
			const by = undisturbedFrom(process, since, boundMs) + boundMs;
			// Where the agent was frozen, the kernel may have let go of it before.
			const heldUntil = worker.endedAt ?? end;
			if ((endedAt ?? end) > by && heldUntil > by) {
				yield { at: by, what: `${incarnation} still waits for worker ${pid}` };
			}
			// Killed, or at an end for a reason of its own in the same moment.
			if (ending === null || ending.exitCode !== EXIT_CODES.replaceNode)
				continue;
			// The kernel let go of it after all, while its machine slept.
			if (worker.endedAt !== null && worker.endedAt < (endedAt ?? end))
				continue;
			const names = ending.reason.includes(`pid ${pid} `);
			if (!names && ending.reason.includes("SIGKILL")) {
				yield { at: endedAt ?? end, what: `${incarnation} hides pid ${pid}` };
			}
		}
	},
};
