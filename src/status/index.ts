export { behindInWords, lag, living } from "./behind.js";
export { ownBudget, roleBudgets } from "./budgets.js";
export { describeRun, runIdsIn } from "./describe-run.js";
export { readErrorFile } from "./error-file.js";
export {
	CATEGORIES,
	CATEGORY_NAMES,
	lostOf,
	type Spent,
} from "./goodput/categories.js";
export {
	type Cost,
	costOf,
	describeGoodput,
	type Goodput,
} from "./goodput/describe-goodput.js";
export { readAccounts } from "./goodput/read-ledger.js";
export {
	describeHistory,
	type InstanceHistory,
	type RoundLine,
	type RunHistory,
} from "./history.js";
export {
	accountsOf,
	type NodeAccount,
	type RunAccounts,
} from "./node-accounts.js";
export {
	AGENT_PHASES,
	type AgentPhase,
	type NodeDocument,
	type NodeNow,
	type OwnWorker,
	type Readiness,
	WORKER_STATES,
	type WorkerDocument,
	type WorkerState,
} from "./node-document.js";
export {
	type RestartsUsed,
	type RootCause,
	RoundHistory,
	type RoundStory,
	type RunOutcome,
	type RunReport,
	type WorkerError,
	type WorkerResult,
} from "./report.js";
export type { RoundPhases } from "./round-times.js";
export type {
	FoundRun,
	NodeStatus,
	RestartBudget,
	RunDocument,
	RunPhase,
	WorkerStatus,
} from "./run-document.js";
export { lastFailureOf } from "./run-document.js";
export type { NodePhase, Span } from "./spans.js";
export { savedByAll } from "./starts.js";
export { formatRuns, formatStatus, PHASES } from "./status-text.js";
export {
	type Timeline,
	type TimelineIncident,
	timelineOf,
} from "./timeline.js";
export {
	backWords,
	budgetOwner,
	forEachOwner,
	hangInWords,
	leftOfNode,
	leftOfRoles,
	linksInWords,
	pidsInWords,
	stateInWords,
	stepNoun,
	stepsInWords,
	stragglerInWords,
	waitingInWords,
	windowOf,
	wordsOfStarts,
} from "./words.js";
