export {
	isRunning,
	type NodeProcess,
	type NodeState,
	type NodeWorker,
	type RunningNode,
} from "./node.js";
export { RoundLedger, type RoundLedgerOptions } from "./round-ledger.js";
export {
	type StandstillJudge,
	StepWatch,
	type StepWatchOptions,
} from "./step-watch.js";
export { StragglerWatch } from "./stragglers.js";
export { furthestOfAll } from "./work.js";
export { WorkerReader } from "./worker-reader.js";
export { WorkerReaders } from "./worker-readers.js";
export type { Movement } from "./worker-steps.js";
