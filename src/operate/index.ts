export { type Aim, FAULT_KINDS, makeFaults, makeNotice } from "./chaos.js";
export { type CleanReport, clean } from "./clean.js";
export { examineMachine, type Finding } from "./doctor/checks.js";
export { findLinks } from "./find-agent.js";
export { findLogs } from "./find-logs.js";
export { formatHistory } from "./format-history.js";
export { formatNodes } from "./format-nodes.js";
export {
	findKeptRun,
	findKnownRun,
	findKnownRuns,
	readKnownRun,
	type Searcher,
} from "./found-runs.js";
export { formatGoodput, readGoodput } from "./goodput.js";
export { leaveRun } from "./leave-run.js";
export {
	type NodeOrder,
	type OrderReport,
	orderNode,
	readmitNode,
} from "./order-node.js";
export {
	type RunPlaces,
	type RunRequest,
	resolveRunRequest,
} from "./run-request.js";
export { lineInWords, parseRanks, showLogs } from "./show-logs.js";
export { type StopReport, stopFoundRun } from "./stop-run.js";
export { fingerprint, watchLine, watchRuns } from "./watch-runs.js";
export { askWhy, formatWhy } from "./why.js";
