import type { LaunchConfig } from "./agent/configuration/launch-config.js";
import type { RunReport } from "./agent/report/run-report.js";

export type { LaunchConfig } from "./agent/configuration/launch-config.js";
export type {
	RootCause,
	RoundStory,
	RunOutcome,
	RunReport as LaunchResult,
	WorkerError,
	WorkerResult,
} from "./agent/report/run-report.js";
export { ElasticRunError, type ElasticRunErrorCode } from "./errors.js";
export { HardRestartPolicyStrategy } from "./policies/hard-restart-policy.js";
export { RestartPolicy } from "./policies/restart-policy.js";
export { SoftReplaceRestartPolicyStrategy } from "./policies/soft-replace-restart-policy.js";
export { SoftRestartPolicyStrategy } from "./policies/soft-restart-policy.js";
export type {
	Charge,
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
	WorkersAction,
} from "./policies/strategy.js";
export type { FailureRecord } from "./rendezvous/failure.js";

/**
 * Starts this node's workers, supervises them, and resolves with how the run
 * ended and how each rank did. It never exits the process and installs no
 * signal handlers; `config.signal` stops it.
 *
 * @throws ElasticRunError whose `code` names the kind, where nothing could be
 * started or elastic-run itself failed; a run that fails is a result, not an error
 */
export async function launchAgent(config: LaunchConfig): Promise<RunReport> {
	const { launch } = await import("./agent/launch.js");
	return launch(config);
}
