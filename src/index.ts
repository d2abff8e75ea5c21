import {
	type LaunchConfig,
	type LaunchedAgent,
	startAgent,
} from "./launch/index.js";

export { ElasticRunError, type ElasticRunErrorCode } from "./base/errors.js";
export type { Logger } from "./base/logger.js";
export type {
	AgentStatus,
	LaunchConfig,
	LaunchedAgent,
} from "./launch/index.js";
export type {
	Charge,
	PolicyContext,
	RestartDecision,
	RestartPolicyStrategy,
	WorkerFailureContext,
	WorkersAction,
} from "./policies/index.js";
export {
	HardRestartPolicyStrategy,
	RestartPolicy,
	SoftReplaceRestartPolicyStrategy,
	SoftRestartPolicyStrategy,
} from "./policies/index.js";
export type { FailureRecord } from "./rendezvous/index.js";
export {
	acknowledge,
	getWorkerEvent,
	getWorkerInfo,
	NotLaunchedError,
	onPreemption,
	onWorkerEvent,
	type Preemption,
	type PreemptionListener,
	type Progress,
	preemption,
	reportError,
	reportProgress,
	type WaitForWorkOptions,
	type WorkerEvent,
	type WorkerEventListener,
	type WorkerInfo,
	WorkerState,
	WorldChangeEvent,
	waitForWork,
	workerEvents,
} from "./runtime/runtime.js";
export type {
	RootCause,
	RoundStory,
	RunOutcome,
	RunReport as LaunchResult,
	WorkerError,
	WorkerResult,
} from "./status/index.js";

/**
 * Starts this node's workers, supervises them, and resolves with how the run ended and how each rank did. It never exits
 * the process and installs no signal handlers; `config.signal` or its own `stop()` stops it.
 *
 * @throws ElasticRunError whose `code` names the kind, if nothing could be started or elastic-run itself failed. A failed
 * run is a result, not an error.
 */
export function launchAgent(config: LaunchConfig): LaunchedAgent {
	return startAgent(config);
}
