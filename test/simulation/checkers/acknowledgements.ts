import { type Checker, undisturbedFrom } from "../history.js";

/** The ways of what is said in a channel, and of a signal, in milliseconds. */
const SLACK_MS = 2_500;

/**
 * A worker that does not acknowledge a PAUSE in time is ended, also where the next round has begun meanwhile. A notice
 * gives it time to save instead, and when one is withdrawn, the wait begins again.
 */
export const acknowledgements: Checker = {
	name: "acknowledgements",
	*check({ workers, pauseTimeoutMs, shutdownTimeoutMs, endedAt: end }) {
		for (const worker of workers) {
			const { pid, process, told, signalledAt, leaderEndedAt } = worker;
			const { frozen, noticed } = process;
			const toSaveMs = noticed.length > 0 ? shutdownTimeoutMs / 2 : 0;
			const boundMs = pauseTimeoutMs + toSaveMs + SLACK_MS;
			const news = noticed.map((time) => ({ from: time, to: time }));
			const disturbed = [...process.disturbed, ...news];
			for (const { kind, at, acknowledgedAt } of told) {
				if (kind !== "PAUSE") continue;
				const from = undisturbedFrom({ disturbed, frozen }, at, boundMs);
				const by = from + boundMs;
				const over = [acknowledgedAt, signalledAt, leaderEndedAt];
				const until = Math.min(
					...over.map((time) => time ?? end),
					process.endedAt ?? end,
				);
				if (until <= by) continue;
				yield { at: by, what: `worker ${pid} was not given up by its agent` };
			}
		}
	},
};
