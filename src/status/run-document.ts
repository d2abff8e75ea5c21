import type {
	BusyWorker,
	Hang,
	NextStart,
	StartKind,
	Starts,
	StepSource,
	Straggler,
} from "../model/index.js";
import type {
	FailureRecord,
	NodeState,
	NoticeRecord,
	Outcome,
	PreflightRecord,
	World,
} from "../rendezvous/index.js";

/** The phase of a run. `abandoned`: it has not ended, and has no agents. */
export type RunPhase =
	| "forming"
	| "running"
	| "leaving"
	| "waiting"
	| "ended"
	| "abandoned";

/** A rank that makes no step while others of its role do. */
export interface BehindRank {
	readonly rank: number;
	readonly node: string;
	/** Since its last step. */
	readonly seconds: number;
	/** How many more steps the furthest rank of its role has made; 0 if their numbers do not tell. */
	readonly steps: number;
}

/** A budget of restarts: its size, and what was charged. */
export interface RestartBudget {
	readonly allowed: number;
	readonly used: number;
	readonly left: number;
	/** Only what was charged in the last so many seconds counts; absent: all. */
	readonly windowSeconds?: number;
	/** When the next one comes back; null: all are left. Absent without a window. */
	readonly nextBackAt?: number | null;
}

/**
 * The content of `elastic-run status` and its JSON, documented in docs/status.md. Times are milliseconds since 1970, null
 * if unknown.
 */
export interface RunDocument {
	readonly version: 1;
	readonly runId: string;
	readonly phase: RunPhase;
	readonly since: number | null;
	readonly instance: number;
	/** The newest round whose barrier has lifted; 0 if none has. */
	readonly round: number;
	/** The figures of that round. */
	readonly world: World | null;
	readonly minNodes: number | null;
	readonly maxNodes: number | null;
	readonly policy: string | null;
	/** Null if nothing is awaited. */
	readonly waiting: WaitingStatus | null;
	/** Node id of the agent that plans rounds; null if none does. */
	readonly coordinator: string | null;
	/** The run's budget; null if its settings are unknown. */
	readonly restarts: RestartBudget | null;
	/** The budgets of roles; absent if they have none. */
	readonly roleRestarts?: Readonly<Record<string, RestartBudget>>;
	readonly incidents: number;
	/** The newest incident of this instance. */
	readonly lastIncident: IncidentStatus | null;
	/** How it ended; null while it runs. */
	readonly outcome: Outcome | null;
	/** What is known of a round that stands still; null if it does not, or its nodes have not noticed. */
	readonly hang: Hang | null;
	/** The rank that all others wait for in each step; null if none stands out. */
	readonly straggler: Straggler | null;
	/** Who makes no steps while others of the role do; absent if nobody. */
	readonly behind?: readonly BehindRank[];
	/** Who makes no steps now, and why; absent if nobody has said so. */
	readonly busy?: readonly BusyRank[];
	/** Members by rank, then the others in order of arrival. */
	readonly nodes: readonly NodeStatus[];
	/** What nodes found out about themselves before they joined, also those that did not join. */
	readonly preflights: readonly PreflightStatus[];
}

/** The worker whose failure ended the run, or else the last round that a failure ended. */
export function lastFailureOf(
	run: Pick<RunDocument, "outcome" | "lastIncident"> | undefined,
): FailureRecord | undefined {
	return run?.outcome?.root ?? run?.lastIncident?.root;
}

/** What a rank does while no step comes. */
export type BusyRank = Pick<BusyWorker, "what" | "since"> & {
	readonly rank: number;
};

export type PreflightStatus = Pick<
	PreflightRecord,
	"nodeId" | "verdict" | "findings" | "at"
>;

export interface WaitingStatus {
	/** "waiting for 1 more node (at least 2): node-a is here; 590 s left". */
	readonly words: string;
	readonly since: number | null;
	readonly until: number | null;
	/** How many more nodes must come. */
	readonly needed: number;
	/** Some of the nodes that are not ready. */
	readonly missing: readonly string[];
}

export interface IncidentStatus {
	/** The round that it ended. */
	readonly round: number;
	readonly at: number | null;
	readonly reason: string;
	readonly root: FailureRecord;
}

export interface NodeStatus {
	readonly nodeId: string;
	/**
	 * Its part in the newest round. `spare`: the complete round has no seat for it; `waiting`: there is no such round now;
	 * `refused`: its budget is spent.
	 */
	readonly part: "member" | "spare" | "waiting" | "refused";
	/** `gone`: a member without an agent. */
	readonly state: NodeState | "gone";
	readonly since: number | null;
	readonly role: string;
	readonly groupRank: number | null;
	/** First and last of its global ranks. */
	readonly ranks: readonly [number, number] | null;
	/** The agent's process, and its host; null if it is gone. */
	readonly pid: number | null;
	readonly address: string | null;
	readonly hostId: string | null;
	/** Its workers by local rank; null: not started. */
	readonly workerPids: readonly (number | null)[];
	/** How far its workers have come in the newest round: only those that have made a step. */
	readonly workers: readonly WorkerStatus[];
	/** How it started its workers in the newest round. Absent without warm starts, and if it started none. */
	readonly starts?: ShownStarts;
	/** How its next ones would start. Absent without warm starts, and without an agent. */
	readonly nextStart?: NextStart;
	/** Why it leaves, or has left its round before the others. */
	readonly cause: string | null;
	/** Why its machine will go; null if it stays. */
	readonly notice: NoticeRecord | null;
	/** The node's budget with the least left, or that of its worker with the least; null if the run's settings are unknown. */
	readonly restarts: RestartBudget | null;
}

/** How a node started its workers. */
export interface ShownStarts extends Starts {
	/** How much earlier its first step came than in its last cold start before, in milliseconds; absent if that is not known. */
	readonly savedMs?: number;
}

/** The steps of one worker, as its agent last published them: at most once in two seconds. */
export interface WorkerStatus {
	readonly localRank: number;
	/** Null if the node has no seat in the newest round. */
	readonly rank: number | null;
	readonly step: number;
	/** Steps a second; null before the second step. */
	readonly stepRate: number | null;
	/** How long ago its agent saw that step. */
	readonly secondsSinceStep: number;
	/** `report`: reportProgress(); `hook`: optimizer steps that the Python hook counted; `output`: its own output. */
	readonly stepSource: StepSource;
	/** Warm: its process was forked with its imports. */
	readonly start: StartKind;
	readonly ended?: true;
	/** The numbers that it reported with the step. */
	readonly metrics: Readonly<Record<string, number>>;
}

/** One run, and where it was found. */
export interface FoundRun {
	readonly status: RunDocument;
	/** The directory of its agent on this machine, the store's endpoints, or the file of its record. */
	readonly place: string;
	/** It has ended, and `place` is this machine's record of it. */
	readonly isRecord?: true;
}
