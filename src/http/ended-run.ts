import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { RoundRecord } from "../rendezvous/records/records.js";

/** The run as last read, with the outcome that the agent has heard of since: after its end an agent no longer reads its store. */
export function asEnded(run: RunStatus, round: RoundRecord | null): RunStatus {
	if (run.outcome !== null || round?.instance !== run.instance) return run;
	const { outcome } = round;
	if (outcome === null) return run;
	const since = outcome.endedAt ?? null;
	return { ...run, phase: "ended", since, outcome, waiting: null };
}
