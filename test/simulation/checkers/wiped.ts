import { LOOK_EVERY_MS } from "../../../src/rendezvous/member/reconcile-loop.js";
import { type Checker, type History, undisturbedFrom } from "../history.js";

/** Beside looks and graces: tries at a store that comes back, in milliseconds. */
const SLACK_MS = 6_000;

/** Agents that have joined a run whose keys are gone from the store end, in bounded time. One that has not may begin it. */
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
				if (!hasJoined(history, incarnation, at)) continue;
				const by = undisturbedFrom(process, at, boundMs) + boundMs;
				if ((endedAt ?? end) <= by) continue;
				yield { at: by, what: `${incarnation} goes on without its run` };
			}
		}
	},
};

/** Its record has claimed a round. */
function hasJoined({ records }: History, incarnation: string, by: number) {
	return records.some(
		({ at, record }) =>
			at <= by && record?.incarnation === incarnation && record.claim > 0,
	);
}
