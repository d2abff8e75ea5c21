import { type Checker, undisturbedFrom } from "../history.js";

/** The ways of what is said in a channel, and of a signal, in milliseconds. */
const SLACK_MS = 2_500;

/** A worker that does not acknowledge a PAUSE in time is ended, also where the next round has begun meanwhile. */
export const acknowledgements: Checker = {
	name: "acknowledgements",
	*check({ workers, pauseTimeoutMs, endedAt: end }) {
		for (const worker of workers) {
			const { pid, process, told, signalledAt, leaderEndedAt } = worker;
			const boundMs = pauseTimeoutMs + SLACK_MS;
			for (const { kind, at, acknowledgedAt } of told) {
				if (kind !== "PAUSE") continue;
				const by = undisturbedFrom(process, at, boundMs) + boundMs;
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
