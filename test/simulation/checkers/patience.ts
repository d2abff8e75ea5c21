import type { Checker } from "../history.js";

/** How long an unreachable store is tried at the start, in milliseconds. */
const START_PATIENCE_MS = 30_000;

/** No error of the store ends an agent before it has been tried for the time that was promised. */
export const patience: Checker = {
	name: "patience",
	*check({ processes, spec }) {
		const promisedMs = Math.min(START_PATIENCE_MS, spec.joinTimeoutMs);
		for (const process of processes) {
			const { ending, disturbed, frozen, incarnation } = process;
			if (ending?.exitCode !== 4) continue;
			const endedAt = process.endedAt ?? 0;
			// It may also have waited for its node id in that time.
			const isStarting = process.recordMade.length === 0;
			if (isStarting && endedAt - process.startedAt >= promisedMs) continue;
			const sufferedMs = [...disturbed, ...frozen].reduce(
				(sum, { from, to }) => sum + to - from,
				0,
			);
			if (sufferedMs >= promisedMs / 2) continue;
			yield {
				at: endedAt,
				what: `${incarnation} gave the store up after ${Math.round(sufferedMs)} ms`,
			};
		}
	},
};
