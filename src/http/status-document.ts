import type {
	NodeDocument,
	RunDocument,
	RunHistory,
	Spent,
	Timeline,
} from "../status/index.js";

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
	/** The end of the output of the worker that failed last; absent if none did, or not on this node. */
	readonly failedLines?: readonly string[];
	/** As `elastic-run history --output json`; null before this agent has joined its run. */
	readonly history: PlacedHistory | null;
	/** The run over time, by node; null before this agent has joined its run. */
	readonly timeline: Timeline | null;
	/** Node-seconds by category, as `elastic-run goodput` says; null before this agent has joined its run. */
	readonly ledger: Spent | null;
}

export interface PlacedRun extends RunDocument {
	/** Where the run's state is stored: the store's endpoints, or this agent's directory. */
	readonly place: string;
}

export interface PlacedHistory extends RunHistory {
	readonly place: string;
}
