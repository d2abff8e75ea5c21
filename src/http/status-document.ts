import type { AgentState } from "../agent/machine/state.js";
import type { Spent } from "../goodput/categories.js";
import type { RunHistory } from "../rendezvous/describe/describe-history.js";
import type { RunStatus } from "../rendezvous/describe/run-status.js";
import type { Timeline } from "./timeline.js";

/** The answer to `GET /status`, documented in docs/http.md. Times are milliseconds since 1970 by this agent's clock. */
export interface StatusDocument {
	readonly version: 1;
	/** When this was made. */
	readonly at: number;
	/** Whether `POST /leave` and `POST /stop` are available: a token was configured. */
	readonly control: boolean;
	/** Why `run` and `history` are missing or not current; null if they are current. */
	readonly problem: string | null;
	/** As `elastic-run status --output json`; null before this agent has joined its run. */
	readonly run: PlacedRun | null;
	readonly node: NodeDocument;
	/** As `elastic-run history --output json`; null before this agent has joined its run. */
	readonly history: PlacedHistory | null;
	/** The run over time, by node; null before this agent has joined its run. */
	readonly timeline: Timeline | null;
	/** Node-seconds by category, as `elastic-run goodput` says; null before this agent has joined its run. */
	readonly ledger: Spent | null;
}

export interface PlacedRun extends RunStatus {
	/** Where the run's state is stored: the store's endpoints, or this agent's directory. */
	readonly place: string;
}

export interface PlacedHistory extends RunHistory {
	readonly place: string;
}

/** The node of the answering agent, as that agent knows it. */
export interface NodeDocument {
	readonly nodeId: string;
	/** The launcher's pid. */
	readonly pid: number;
	readonly phase: AgentState["phase"];
	/** Since when it has been in that phase. */
	readonly since: number;
	/** What it waits for, in words; null if nothing. */
	readonly waitsFor: string | null;
	/** By local rank: the workers of its present or last round. */
	readonly workers: readonly WorkerDocument[];
}

/**
 * `pausing`: it has not acknowledged its PAUSE; `stopping`: it was told to end, or its leader has ended and others of its
 * process group have not; `ended`: nothing is left of it.
 */
export type WorkerState =
	| "starting"
	| "running"
	| "pausing"
	| "paused"
	| "stopping"
	| "ended";

export interface WorkerDocument {
	readonly localRank: number;
	readonly rank: number;
	readonly role: string;
	/** Null if it was not started. */
	readonly pid: number | null;
	readonly state: WorkerState;
	/** Since when it has been in that state. */
	readonly since: number;
	/** Its last output: at most 20 lines of at most 500 characters, without control sequences. */
	readonly lastLines: readonly string[];
}
