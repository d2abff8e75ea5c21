import { existsSync } from "node:fs";
import { join } from "node:path";
import { EXIT_CODES } from "../../base/errors.js";
import type { AgentConfig, ExitCodeConfig } from "../../config/index.js";
import { withoutLibraries } from "../../failures/index.js";
import { lastLines, workerDirectory } from "../../logs/index.js";
import type { Starts, WorkerProgress } from "../../model/index.js";
import {
	comesBackAt,
	type FailureRecord,
	type RoundRecord,
	spentByRun,
	usedOf,
} from "../../rendezvous/index.js";
import {
	budgetOwner,
	type RestartBudget,
	type RestartsUsed,
	type RootCause,
	type RoundStory,
	type RunReport,
	readErrorFile,
	roleBudgets,
	type WorkerResult,
} from "../../status/index.js";
import type { Ending } from "../machine/state.js";
import { MOST_STACK_LINES } from "../workers/worker-output.js";
import type { WorkerWords } from "../workers/worker-process.js";

/** So many lines of its stderr are shown. */
const SHOWN_LINES = 20;

export interface ReportSources {
	readonly config: Pick<
		AgentConfig,
		| "runId"
		| "nodeId"
		| "maxRestarts"
		| "policyId"
		| "restartLimits"
		| "stdinRank"
		| "exitCodes"
	>;
	readonly ending: Ending;
	/** As last seen; null if the run was never seen. */
	readonly round: RoundRecord | null;
	readonly instance: number;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly rounds: readonly RoundStory[];
	/** What is left of this node's budget; null if it has none, or it is not known. */
	readonly ownBudget: RestartBudget | null;
	/** How this node's workers were started in a round; undefined if nothing is prepared ahead. */
	readonly startsIn: (round: number) => Starts | undefined;
	readonly workers: readonly WorkerResult[];
	/** The steps of the newest round's workers. */
	readonly progress: readonly WorkerProgress[];
	/** What peers of the failed worker did that did not end when they were told to. */
	readonly stuck: readonly string[];
	/** What is left of the output of the worker with this pid, if known. */
	readonly wordsOf: (pid: number) => WorkerWords | undefined;
	readonly logDir: string | null;
}

export function buildReport(sources: ReportSources): RunReport {
	const { config, ending, round } = sources;
	return {
		outcome: ending.outcome,
		exitCode: chosenCode(ending, config.exitCodes),
		runId: config.runId,
		nodeId: config.nodeId,
		instance: sources.instance,
		reason: ending.reason,
		rootCause: rootCauseOf(sources),
		rounds: sources.rounds.map((story) => {
			const starts = sources.startsIn(story.round);
			return starts === undefined ? story : { ...story, starts };
		}),
		restarts: {
			used: restartsUsed(ending, round),
			allowed: config.maxRestarts,
			...inWindow(sources),
			...(sources.ownBudget && { node: sources.ownBudget }),
			...ofRoles(sources),
		},
		...(ending.repeated && { repeated: ending.repeated }),
		workers: sources.workers,
		stuck: sources.stuck,
		logDir: sources.logDir,
	};
}

function inWindow({
	config: { maxRestarts, restartLimits, policyId },
	round,
	wallTime,
}: ReportSources): Partial<RestartsUsed> {
	const { windowMs } = restartLimits;
	if (windowMs === 0 || round === null) return {};
	// This agent does not know what other nodes have left.
	if (budgetOwner(policyId) !== undefined) return { windowMs };
	const limit = { restarts: maxRestarts, windowMs };
	const spent = spentByRun(round);
	return {
		windowMs,
		left: Math.max(0, maxRestarts - usedOf(spent, limit, wallTime)),
		nextBackAt: comesBackAt(spent, limit, wallTime),
	};
}

function ofRoles({
	round,
	wallTime,
}: ReportSources): Pick<RestartsUsed, "roles"> {
	const roles = round === null ? undefined : roleBudgets(round, wallTime);
	return roles === undefined ? {} : { roles };
}

/** The incident that spends a budget is charged but not followed by a restart, unless this agent ends to be started again. */
function restartsUsed(
	{ root, exitCode, outcome }: Ending,
	round: RoundRecord | null,
): number {
	if (round === null) return 0;
	const isRecreated = outcome === "left" && exitCode === EXIT_CODES.restart;
	return root === null || isRecreated
		? round.incidents
		: Math.max(0, round.incidents - 1);
}

/** The worker's output is available only if it ran on this node. */
function rootCauseOf(sources: ReportSources): RootCause | null {
	const failure = sources.ending.root;
	if (failure === null) return null;
	if (failure.nodeId !== sources.config.nodeId || sources.logDir === null) {
		return { failure, ...recordedStep(failure), lastLines: [] };
	}
	// A worker that could not be started has no output.
	if (failure.pid === null) return { failure, lastLines: [] };
	const words =
		sources.wordsOf(failure.pid) ?? searchWords(failure, sources.logDir);
	const { directory, logFile, lostLines } = words;
	const error = readErrorFile(join(directory, "error.json"));
	const steps = lastStep(failure, sources);
	if (logFile === undefined) return { failure, error, ...steps, lastLines: [] };
	const isThere = lostLines === undefined && existsSync(logFile);
	const lines = ownLines(
		lostLines ?? lastLines(logFile, { count: MOST_STACK_LINES }),
	);
	return {
		failure: { ...failure, ...debuggerHint(failure, lines, sources.config) },
		error,
		...steps,
		lastLines: lines,
		...(isThere ? { logFile } : { lostLogFile: logFile }),
	};
}

/** Where a stack is long, its last lines are those of libraries: they are only counted. */
function ownLines(lines: readonly string[]): readonly string[] {
	if (lines.length === 0) return lines;
	const own = withoutLibraries(lines.join("\n")).split("\n");
	return own.slice(-SHOWN_LINES);
}

function lastStep(
	failure: FailureRecord,
	{ progress, workers }: ReportSources,
): Pick<RootCause, "lastStep"> {
	const { localRank, pid, timestamp } = failure;
	const isOfLastRound = workers.some((worker) => worker.pid === pid);
	const known = progress.find((one) => one.localRank === localRank);
	if (!isOfLastRound || known === undefined) return recordedStep(failure);
	const secondsBefore = Math.max(0, timestamp - known.stepAt) / 1_000;
	return { lastStep: { step: known.step, secondsBefore } };
}

/** When it made that step is known where it ran, and only of its newest round. */
function recordedStep({ step }: FailureRecord): Pick<RootCause, "lastStep"> {
	return step === undefined ? {} : { lastStep: { step } };
}

/** Python's debugger gives up at the end of its input: a worker without input ends at each `breakpoint()`. */
function debuggerHint(
	{ localRank, hint }: FailureRecord,
	lines: readonly string[],
	{ stdinRank }: ReportSources["config"],
): Pick<FailureRecord, "hint"> {
	const isQuit = /^(bdb\.)?BdbQuit\b/.test(lines.at(-1) ?? "");
	if (hint !== undefined || !isQuit || localRank === stdinRank) return {};
	return {
		hint: `a debugger (breakpoint(), pdb) found no input, because this worker does not read the launcher's stdin: use --stdin ${localRank} on a terminal, or take the breakpoint out`,
	};
}

/** For a worker of an earlier round: one that was kept for later rounds writes where it was started. */
function searchWords(
	{ round, localRank }: FailureRecord,
	logDir: string,
): WorkerWords {
	const directories = Array.from({ length: round }, (_, before) =>
		workerDirectory(logDir, round - before, localRank),
	);
	const directory = directories.find((one) => existsSync(one)) ?? logDir;
	const path = join(directory, "stderr.log");
	const logFile = existsSync(path) ? path : undefined;
	return { directory, logFile, lostLines: undefined };
}

/** The exit code of this ending, as the user has chosen it. */
export function chosenCode(
	{ outcome, exitCode, root }: Ending,
	{ replaceNode, restart, isPropagated }: ExitCodeConfig,
): number {
	if (outcome === "left") {
		if (exitCode === EXIT_CODES.replaceNode) return replaceNode;
		return exitCode === EXIT_CODES.restart ? restart : exitCode;
	}
	const isItsRoots = outcome === "failed" && exitCode === EXIT_CODES.failed;
	return (isPropagated && isItsRoots && root?.exitCode) || exitCode;
}
