export type { RestartLimit } from "./budget.js";
export {
	type Activity,
	type Collective,
	EVIDENCE,
	type EvidenceRecord,
	type Frame,
	GROUP_STATES,
	type GroupProgress,
	type RankEvidence,
	shared,
} from "./evidence.js";
export { HANG_KINDS, type Hang, type HangKind, type Suspect } from "./hang.js";
export { LEDGER, type LedgerRecord } from "./ledger.js";
export {
	LINK_ADDRESS,
	LINKED_AGENT,
	type LinkAddress,
	type LinkedAgent,
	NODE_LINKS,
	type NodeLinks,
	RECORD_WRITE,
	RECORD_WRITTEN,
	type RecordWrite,
	type RecordWritten,
	RIDE_MESSAGE,
	type RideMessage,
} from "./link.js";
export type { Notice, NoticeListener, NoticeOrigin } from "./notice.js";
export {
	type BusyWorker,
	PROGRESS,
	type ProgressRecord,
	type WorkerProgress,
} from "./progress.js";
export { RUN_COMMAND, type RunCommand } from "./run.js";
export type {
	ColdKind,
	NextStart,
	SharedModules,
	StartKind,
	StartSource,
	Starts,
} from "./start.js";
export {
	type Furthest,
	type Pace,
	type RoundSteps,
	STEP_SOURCES,
	type Stages,
	type StageTime,
	type StepSource,
	type Straggler,
} from "./step.js";
export type { StreamSelection } from "./stream.js";
export { ofRound, type Topic } from "./topic.js";
export {
	claim,
	count,
	duration,
	exitCode,
	instance,
	name,
	port,
	positive,
	round,
	size,
	step,
	time,
	token,
	version,
	words,
} from "./value.js";
