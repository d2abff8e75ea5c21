import type { Checker, History, Stint, WorkerHistory } from "../history.js";

/**
 * PAUSE and WORK alternate in each worker's channel, a PAUSE is of the round that
 * its WORK was of, the WORK that ends it comes when it is acknowledged and says the
 * same reason, and rounds rise.
 * Each PAUSE ends in WORK or in the worker's death, but where the agent still
 * waits for a seat when the run is at rest.
 */
export const alternation: Checker = {
	name: "alternation",
	*check(history) {
		for (const worker of history.workers) {
			yield* inTurn(worker);
			const at = lastPause(worker, history);
			if (at === undefined) continue;
			yield { at, what: `worker ${worker.pid} stays paused for ever` };
		}
	},
};

function* inTurn({ told, pid, untoldAt }: WorkerHistory) {
	for (const [index, { kind, at, round, instance, change }] of told.entries()) {
		const before = told[index - 1];
		// What the disk has not taken is missing here, and its agent ends the worker.
		if (before === undefined || (untoldAt ?? at + 1) <= at) continue;
		const rises = kind === "WORK" ? round > before.round : true;
		if (kind === before.kind || instance !== before.instance || !rises) {
			yield {
				at,
				what: `worker ${pid} got ${kind} of round ${round} after ${before.kind} of round ${before.round}`,
			};
		}
		if (kind === "PAUSE" && round !== before.round) {
			yield { at, what: `worker ${pid} got PAUSE of another round, ${round}` };
		}
		if (kind === "PAUSE" && change === null) {
			yield { at, what: `worker ${pid} was not told why it is paused` };
		}
		if (kind === "WORK" && (before.acknowledgedAt ?? at + 1) > at) {
			yield {
				at,
				what: `worker ${pid} got WORK of round ${round} before it had left the one before`,
			};
		}
		if (kind === "WORK" && change !== before.change) {
			yield {
				at,
				what: `worker ${pid} was paused for ${before.change}, and works for ${change}`,
			};
		}
	}
}

/** When a worker was paused that neither works again nor ends, though its agent is in a round or at its end. */
function lastPause(
	{ stints, leaderEndedAt, stuckAt, process }: WorkerHistory,
	{ endedAt: end }: History,
): number | undefined {
	const last: Stint | undefined = stints.at(-1);
	const isDead = leaderEndedAt !== null || stuckAt !== null;
	if (last === undefined || last.pausedAt === null || isDead) return;
	const waits = process.endedAt === null && process.intent?.state === "ready";
	return waits ? undefined : Math.min(last.pausedAt, end);
}
