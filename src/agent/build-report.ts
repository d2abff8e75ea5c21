import { existsSync } from "node:fs";
import { join } from "node:path";
import type { FailureRecord } from "../rendezvous/failure.js";
import type { RoundRecord } from "../rendezvous/records.js";
import type { AgentConfig } from "./configuration/agent-config.js";
import { workerDirectory } from "./logs/log-directory.js";
import { readErrorFile } from "./report/error-file.js";
import { lastLines } from "./report/last-lines.js";
import type {
	RootCause,
	RoundStory,
	RunReport,
	WorkerResult,
} from "./report/run-report.js";
import type { Ending } from "./state.js";

export interface ReportSources {
	readonly config: AgentConfig;
	readonly ending: Ending;
	/** As last seen; null where the run was never seen. */
	readonly round: RoundRecord | null;
	readonly instance: number;
	readonly rounds: readonly RoundStory[];
	readonly workers: readonly WorkerResult[];
	readonly logDir: string | null;
}

/** Puts together what is told at the end of a run. */
export function buildReport(sources: ReportSources): RunReport {
	const { config, ending, round } = sources;
	return {
		outcome: ending.outcome,
		exitCode: ending.exitCode,
		runId: config.runId,
		nodeId: config.nodeId,
		instance: sources.instance,
		reason: ending.reason,
		rootCause: rootCauseOf(sources),
		rounds: sources.rounds,
		restarts: {
			used: restartsUsed(ending, round),
			allowed: config.maxRestarts,
		},
		workers: sources.workers,
		logDir: sources.logDir,
	};
}

/** The incident that spends a budget is charged but not followed by a restart. */
function restartsUsed({ root }: Ending, round: RoundRecord | null): number {
	if (round === null) return 0;
	return root === null ? round.incidents : Math.max(0, round.incidents - 1);
}

/** The worker's own words are at hand only where it ran on this node. */
function rootCauseOf(sources: ReportSources): RootCause | null {
	const failure = sources.ending.root;
	if (failure === null) return null;
	if (failure.nodeId !== sources.config.nodeId || sources.logDir === null) {
		return { failure, lastLines: [] };
	}
	// One that could not be started has said nothing.
	if (failure.pid === null) return { failure, lastLines: [] };
	const directory = logsOf(failure, sources.logDir);
	const logFile = join(directory, "stderr.log");
	return {
		failure,
		error: readErrorFile(join(directory, "error.json")),
		lastLines: lastLines(logFile),
		...(existsSync(logFile) ? { logFile } : {}),
	};
}

/** A worker that was kept for later rounds writes where it was started. */
function logsOf({ round, localRank }: FailureRecord, logDir: string): string {
	const directories = Array.from({ length: round }, (_, before) =>
		workerDirectory(logDir, round - before, localRank),
	);
	return (
		directories.find((directory) => existsSync(directory)) ??
		workerDirectory(logDir, round, localRank)
	);
}
