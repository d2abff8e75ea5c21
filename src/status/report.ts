import type { Starts } from "../model/index.js";
import type { FailureRecord } from "../rendezvous/index.js";
import type { RestartBudget } from "./run-document.js";

/** How a run ended for this agent. `left`: this node left, and the run may continue elsewhere. */
export type RunOutcome = "succeeded" | "failed" | "stopped" | "left";

/** A worker's own description of its failure, from its error file. */
export interface WorkerError {
	readonly message: string;
	readonly stack?: string | undefined;
}

/** The failure that caused all others of the last incident. */
export interface RootCause {
	readonly failure: FailureRecord;
	readonly error?: WorkerError | undefined;
	/** Its last step, and how long before the failure that was, in seconds; absent if it made none. */
	readonly lastStep?: {
		readonly step: number;
		/** Absent in the reports of other nodes, and for a worker of an earlier round. */
		readonly secondsBefore?: number;
	};
	/** The last lines of its stderr, without control sequences, libraries' frames only counted; empty if it is on another node or was not redirected. */
	readonly lastLines: readonly string[];
	/** The path of its whole stderr, if it is on this node. */
	readonly logFile?: string | undefined;
	/** The former path of its stderr, if it was on this node and somebody removed or renamed the file. */
	readonly lostLogFile?: string | undefined;
}

export interface RoundStory {
	readonly round: number;
	/** Milliseconds since 1970. */
	readonly startedAt: number;
	readonly worldSize: number;
	/**
	 * Milliseconds from the first sign of the failure or change that ended the previous round until this round's workers
	 * were started; null for the first round.
	 */
	readonly recoveryMs: number | null;
	/** How long its workers ran, in milliseconds; null while they run. */
	readonly ranMs: number | null;
	/** How this node's workers were started; absent without warm starts, and if it started none. */
	readonly starts?: Starts;
	/** Why it ended, in words: "rank 2 on node-a: exit code 1", "all nodes have finished". */
	readonly ending: string;
}

/** How one of this agent's workers of the last round ended. */
export interface WorkerResult {
	readonly rank: number;
	readonly localRank: number;
	readonly pid: number | null;
	/** The exit code; 128 + n for a worker killed by signal n; null if it could not be started or is still running. */
	readonly exitCode: number | null;
	readonly signal: string | null;
	/** The agent stopped it because of another failure. */
	readonly collateral: boolean;
}

/** What failures have cost. */
export interface RestartsUsed {
	readonly used: number;
	readonly allowed: number;
	/** Set with a window: only what was charged in the last so many milliseconds counts. */
	readonly windowMs?: number;
	/** What is left of the run's budget, with a window; absent if each node, or each worker, has one. */
	readonly left?: number;
	/** When the next one comes back, in milliseconds since 1970; null: all are left. */
	readonly nextBackAt?: number | null;
	/** The budget of this node, or of its worker, with the least left; absent if neither has one, or it is not known. */
	readonly node?: RestartBudget;
	/** The budgets of roles; absent if they have none. */
	readonly roles?: Readonly<Record<string, RestartBudget>>;
}

/** The result of `launchAgent`, the content of `--output json`, and the source of the closing report. */
export interface RunReport {
	readonly outcome: RunOutcome;
	readonly exitCode: number;
	readonly runId: string;
	readonly nodeId: string;
	/** 0 if no instance began. */
	readonly instance: number;
	/** Why it ended, in words. */
	readonly reason: string;
	readonly rootCause: RootCause | null;
	readonly rounds: readonly RoundStory[];
	/** Incidents charged, and the budget. */
	readonly restarts: RestartsUsed;
	/** The failures that came again and again and so ended the run, each in one line. */
	readonly repeated?: readonly string[];
	readonly workers: readonly WorkerResult[];
	/** What peers of the failed worker did that did not end when they were told to, in at most four lines. */
	readonly stuck: readonly string[];
	/** This node's log directory; null if there is none. */
	readonly logDir: string | null;
}

/** Records this agent's rounds as they happen. */
export class RoundHistory {
	private readonly told: RoundStory[] = [];
	private startedAt: number | undefined;
	private endedAt: number | undefined;

	/** @param now milliseconds on a steady clock; @param wallTime milliseconds since 1970 */
	started(
		round: number,
		worldSize: number,
		now: number,
		wallTime: number,
	): void {
		this.startedAt = now;
		this.told.push({
			round,
			startedAt: wallTime,
			worldSize,
			recoveryMs: this.endedAt === undefined ? null : now - this.endedAt,
			ranMs: null,
			ending: "running",
		});
	}

	/** This node's workers have succeeded. Other nodes may continue the round, and it may end otherwise. */
	finished(reason: string, now: number): void {
		const last = this.told.at(-1);
		if (last === undefined || this.startedAt === undefined) return;
		const ranMs = last.ranMs ?? now - this.startedAt;
		this.told[this.told.length - 1] = { ...last, ranMs, ending: reason };
	}

	/**
	 * Records that the round's end was seen; its workers may still be ending.
	 * @param noticedAfterMs how long before that its first sign was
	 */
	ended(reason: string, now: number, noticedAfterMs = 0): void {
		if (this.startedAt === undefined) return;
		const endedAt = Math.max(this.startedAt, now - noticedAfterMs);
		this.finished(reason, endedAt);
		this.startedAt = undefined;
		this.endedAt = endedAt;
	}

	get rounds(): readonly RoundStory[] {
		return this.told;
	}
}

/**
 * The text of the launcher's own error file after a failed run: the root cause in the format of torch's `@record`, which
 * schedulers read. Undefined if the run has not failed. `wallTime`: milliseconds since 1970.
 */
export function launcherErrorText(
	report: RunReport,
	wallTime: number,
): string | undefined {
	if (report.outcome !== "failed") return undefined;
	const { rootCause, reason, exitCode } = report;
	const failure = rootCause?.failure;
	const words = rootCause?.error?.message ?? failure?.message;
	const first = failure === undefined ? reason : rootCauseLine(failure);
	return JSON.stringify({
		message: {
			message: words ?? first,
			errorCode: failure?.exitCode ?? exitCode,
			extraInfo: {
				py_callstack: rootCause?.error?.stack ?? words ?? first,
				timestamp: String(Math.floor((failure?.timestamp ?? wallTime) / 1000)),
				root_cause: first,
			},
		},
	});
}

/** `root cause: rank R on NODE (pid P), round K: …`; the text may hold control sequences. */
export function rootCauseLine(failure: FailureRecord): string {
	const { rank, nodeId, pid, round, description } = failure;
	const process = pid === null ? "no process" : `pid ${pid}`;
	return `root cause: rank ${rank} on ${nodeId} (${process}), round ${round}: ${description}`;
}
