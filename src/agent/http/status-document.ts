import type { RunHistory } from "../../rendezvous/describe-history.js";
import type { RunStatus } from "../../rendezvous/run-status.js";
import type { AgentState } from "../state.js";
import type { Timeline } from "./timeline.js";

/**
 * What `GET /status` answers, documented in docs/observability.md. Times are
 * milliseconds since 1970 by this agent's clock.
 */
export interface StatusDocument {
	readonly version: 1;
	/** When this was put together. */
	readonly at: number;
	/** Whether `POST /leave` and `POST /stop` are there: a token was configured. */
	readonly control: boolean;
	/** Why `run` and `history` are not there, or not of now; null: they are. */
	readonly problem: string | null;
	/** As `elastic-run status --output json`; null before this agent has joined its run. */
	readonly run: PlacedRun | null;
	readonly node: NodeDocument;
	/** As `elastic-run history --output json`; null before this agent has joined its run. */
	readonly history: PlacedHistory | null;
	/** What happened when, on which node; null before this agent has joined its run. */
	readonly timeline: Timeline | null;
}

export interface PlacedRun extends RunStatus {
	/** Where the run's state is: the store's endpoints, or this agent's directory. */
	readonly place: string;
}

export interface PlacedHistory extends RunHistory {
	readonly place: string;
}

/** The node of the agent that answers, as that agent knows it. */
export interface NodeDocument {
	readonly nodeId: string;
	/** The launcher's. */
	readonly pid: number;
	readonly phase: AgentState["phase"];
	/** Since when it is in that phase. */
	readonly since: number;
	/** What it waits for, in words; null: nothing. */
	readonly waitsFor: string | null;
	/** By local rank: those of the round that it is in, or was in last. */
	readonly workers: readonly WorkerDocument[];
}

/**
 * `pausing`: told PAUSE, and has not acknowledged it; `stopping`: told to end,
 * or its leader has ended and others of its process group have not; `ended`:
 * nothing is left of it.
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
	/** Null: it was not started. */
	readonly pid: number | null;
	readonly state: WorkerState;
	/** Since when it is in that state. */
	readonly since: number;
	/** The last of what it wrote: at most 20 lines of at most 500 characters, without control sequences. */
	readonly lastLines: readonly string[];
}
