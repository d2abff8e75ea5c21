import type { FailureRecord } from "../../rendezvous/failure.js";

/** How a run ended for this agent. `left`: this node went, the run may go on elsewhere. */
export type RunOutcome = "succeeded" | "failed" | "stopped" | "left";

/** What a worker said of its own failure in its error file. */
export interface WorkerError {
	readonly message: string;
	readonly stack?: string | undefined;
}

/** The failure that all others of the last incident follow from. */
export interface RootCause {
	readonly failure: FailureRecord;
	readonly error?: WorkerError | undefined;
	/** The last lines of its stderr, control sequences removed; empty where it is on another node or was not redirected. */
	readonly lastLines: readonly string[];
	/** Where its whole stderr is, if on this node. */
	readonly logFile?: string | undefined;
}

/** One line of the run's story. */
export interface RoundStory {
	readonly round: number;
	/** Milliseconds since 1970. */
	readonly startedAt: number;
	readonly worldSize: number;
	/** From the failure or change that ended the round before until this round's workers were started, in milliseconds; null for the first. */
	readonly recoveryMs: number | null;
	/** How long its workers ran, in milliseconds; null while they run. */
	readonly ranMs: number | null;
	/** Why it ended, in words: "rank 2 on node-a: exit code 1", "all workers succeeded". */
	readonly ending: string;
}

/** How one of this agent's workers of the last round ended. */
export interface WorkerResult {
	readonly rank: number;
	readonly localRank: number;
	readonly pid: number | null;
	/** The exit code; of one that died of signal n, 128 + n; null where it could not be started or is still there. */
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** The agent had told it to stop: it follows from another failure. */
	readonly collateral: boolean;
}

/** What `launchAgent` resolves with, what `--output json` prints, what the closing report is made of. */
export interface RunReport {
	readonly outcome: RunOutcome;
	readonly exitCode: number;
	readonly runId: string;
	readonly nodeId: string;
	/** 0 where no instance was begun. */
	readonly instance: number;
	/** Why it ended, in words. */
	readonly reason: string;
	readonly rootCause: RootCause | null;
	readonly rounds: readonly RoundStory[];
	/** Incidents charged, and the budget. */
	readonly restarts: { readonly used: number; readonly allowed: number };
	readonly workers: readonly WorkerResult[];
	/** This node's directory of logs; null where none was made. */
	readonly logDir: string | null;
}
