import { ElasticRunError } from "../../base/errors.js";
import type { RoundView } from "../records/round-view.js";

/** Why an agent ends whose run's keys have vanished. */
export function runGone(): ElasticRunError {
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		"the run's keys are gone from the store: it was emptied, or somebody deleted them; start the agents again",
	);
}

/** A run whose keys are gone cannot continue: for this agent it has failed, and its workers end in time. */
export function endedView(
	{ round }: RoundView,
	{ exitCode, message: reason }: ElasticRunError,
): RoundView {
	const outcome = { result: "failed", exitCode, reason, root: null } as const;
	return { round: { ...round, outcome }, seat: null };
}
