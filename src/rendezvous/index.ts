export { LoggingStore } from "./access/logging-store.js";
export { openStore } from "./access/open-store.js";
export {
	adviseLonely,
	lostTooLong,
	reachStore,
	withAdvice,
} from "./access/reach-store.js";
export type { JoinedRun } from "./member/join-run.js";
export {
	Membership,
	type MembershipOptions,
	type RoundView,
} from "./member/membership.js";
export { type GivenEnd, stopRun, withEnd } from "./member/write-stop.js";
export { unseenRiders } from "./planner/riders.js";
export { awaitedNow } from "./records/awaited.js";
export {
	comesBackAt,
	countIncidents,
	mainLimit,
	NOTHING,
	nodeLimit,
	roleLimit,
	spentByRun,
	spentOnNode,
	UNUSED,
	usedOf,
} from "./records/budgets.js";
export { deleteRun, isInhabited } from "./records/delete-run.js";
export {
	DRAIN,
	type DrainRecord,
	RECREATED,
	REPLACED,
	type ReplacedRecord,
} from "./records/departure-records.js";
export type { FailureRecord } from "./records/failure.js";
export {
	HISTORY,
	type HistoryRecord,
	isInOrder,
	KEPT_ROUNDS,
} from "./records/history-record.js";
export type { Departure, Intent, NewIntent } from "./records/intent.js";
export { ALL_RUNS, RunKeys } from "./records/keys.js";
export {
	LEARNED,
	modulesOf,
	recordOfModules,
} from "./records/learned-record.js";
export {
	LEDGER,
	type LedgerRecord,
	ledgerRecords,
} from "./records/ledger-record.js";
export { runTimeBy } from "./records/lived-record.js";
export {
	currentPlaces,
	holderOf,
	inOrderOfArrival,
	isRefused,
	type Place,
	startOfRound,
	whereaboutsOf,
} from "./records/places.js";
export { PREFLIGHT, type PreflightRecord } from "./records/preflight-record.js";
export {
	encodeRecord,
	GarbledRecordError,
	informationAt,
	onceEach,
	recordAt,
	type Warn,
} from "./records/record-codec.js";
export { freeNodeId, nodeIdCandidates } from "./records/record-writer.js";
export {
	BUDGET,
	type BudgetRecord,
	COORDINATOR,
	type NodeFailure,
	type NodeRecord,
	type NodeState,
	type NoticeRecord,
	type Outcome,
	RECORD_VERSION,
	type Reached,
	ROUND,
	type RoleTerms,
	type RoundCause,
	type RoundRecord,
	SEAT,
	type SeatRecord,
	type Spending,
	type Whereabouts,
	type World,
} from "./records/records.js";
export { type RunSpec, SPEC } from "./records/run-spec.js";
export {
	decodeNode,
	type NodeView,
	type RunView,
	readRunView,
} from "./records/run-view.js";
export type { Awaited, NodeList } from "./records/waiting-record.js";
