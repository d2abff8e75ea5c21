import { UNKILLABLE_AFTER_MS } from "../../../src/agent/machine/worker.js";
import { LOOK_EVERY_MS } from "../../../src/rendezvous/member/reconcile-loop.js";
import type { Checker, History } from "../history.js";

/** Beside the times that users set: tries at a store that comes back, the lessor's turns, messages. */
const SLACK_MS = 5_000;

/** Once nothing disturbs it any more, a run is at rest within a time that follows from its settings. */
export const recovery: Checker = {
	name: "recovery",
	*check(history) {
		const { quietSince, restedAt, endedAt } = history;
		const bound = recoveryBoundMs(history);
		const took = (restedAt ?? endedAt) - quietSince;
		if (took <= bound) return;
		yield {
			at: quietSince + bound,
			what: `not at rest after ${Math.round(took)} ms, ${bound} are allowed`,
		};
	},
};

/**
 * The dead are found when their leases end; then the round is left, and settles;
 * newcomers are called, and the round is left once more for them; and once for a
 * worker that does not acknowledge its PAUSE. Where fewer than MIN are there, the
 * join time-out comes instead.
 */
function recoveryBoundMs({
	spec,
	shutdownTimeoutMs,
	pauseTimeoutMs,
}: History): number {
	const { leaseTtlMs, settleTimeoutMs, lastCallTimeoutMs, joinTimeoutMs } =
		spec;
	const { rideOutMs = 0 } = spec;
	const detectMs = 2 * leaseTtlMs + rideOutMs + LOOK_EVERY_MS;
	const leaveMs = shutdownTimeoutMs + UNKILLABLE_AFTER_MS + settleTimeoutMs;
	const growMs = lastCallTimeoutMs + leaveMs;
	const pauseMs = pauseTimeoutMs + leaveMs;
	return detectMs + leaveMs + growMs + pauseMs + joinTimeoutMs + SLACK_MS;
}
