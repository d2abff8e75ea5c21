import type { RoundRecord } from "../../rendezvous/records.js";
import type { RunStatus } from "../../rendezvous/run-status.js";

/**
 * A run as it was read last, with the outcome that the agent itself has heard of
 * since: when an agent ends, its store is not read any more.
 */
export function asEnded(run: RunStatus, round: RoundRecord | null): RunStatus {
	if (run.outcome !== null || round?.instance !== run.instance) return run;
	const { outcome } = round;
	if (outcome === null) return run;
	const since = outcome.endedAt ?? null;
	return { ...run, phase: "ended", since, outcome, waiting: null };
}
