import { LOOK_EVERY_MS } from "../../../src/rendezvous/member/reconcile-loop.js";
import { type Checker, undisturbedFrom } from "../history.js";

/** Beside looks and graces: tries at a store that comes back, in milliseconds. */
const SLACK_MS = 6_000;

/** Agents of a run whose keys are gone from the store end, in bounded time. */
export const wiped: Checker = {
	name: "wiped",
	*check(history) {
		const { wipes, processes, spec, shutdownTimeoutMs, endedAt: end } = history;
		const boundMs =
			spec.leaseTtlMs + LOOK_EVERY_MS + shutdownTimeoutMs + SLACK_MS;
		for (const at of wipes) {
			for (const process of processes) {
				const { recordTaken, endedAt, incarnation } = process;
				if (!recordTaken.includes(at)) continue;
				const by = undisturbedFrom(process, at, boundMs) + boundMs;
				if ((endedAt ?? end) <= by) continue;
				yield { at: by, what: `${incarnation} goes on without its run` };
			}
		}
	},
};
