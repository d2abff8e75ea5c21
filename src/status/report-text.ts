import {
	formatCount,
	formatDuration,
	formatInstant,
	formatRanks,
} from "../base/units.js";
import { withoutLibraries } from "../failures/index.js";
import { plainMessage, plainText } from "../logs/index.js";
import { STOP_CODES } from "../processes/index.js";
import type {
	RestartsUsed,
	RootCause,
	RoundStory,
	RunReport,
	WorkerResult,
} from "./report.js";
import { rootCauseLine } from "./report.js";
import type { RestartBudget } from "./run-document.js";
import { windowOf, within } from "./words.js";

/** A longer line of a worker is cut; the log file has all of it. */
const LONGEST_LINE_CHARACTERS = 1_000;
/** A longer stack is cut; the error file has all of it. */
const MOST_STACK_LINES = 60;
/** A user may suspect the fork. */
const WARM =
	"  it was started warm; to start all workers in the usual way: --warm off";
const BOLD_RED = "\x1b[1;31m";
const GREEN = "\x1b[32m";
const RESET = "\x1b[0m";

/**
 * The agent's closing report, with a newline at its end. If a worker made the run fail, it begins with `root cause: rank
 * R on NODE (pid P), round K: …`. A successful run has one line.
 */
export function formatReport(report: RunReport, colour: boolean): string {
	if (report.outcome === "succeeded") {
		return `${paint(successLine(report), GREEN, colour)}\n`;
	}
	const cause = report.rootCause;
	const [headline, ...details] = cause
		? causeLines(cause, report.nodeId)
		: [`run ${report.runId} ${report.outcome}: ${plainMessage(report.reason)}`];
	const lines = [
		paint(headline ?? "", BOLD_RED, colour),
		...details,
		...otherWorkers(report),
		...report.stuck.map((line) => shortened(plainMessage(line))),
		...formatRounds(report.rounds),
		...closingLines(report),
	];
	return `${lines.join("\n")}\n`;
}

function successLine({ runId, rounds, restarts }: RunReport): string {
	if (rounds.length === 0) return `run ${runId} succeeded without this node`;
	// Somebody may have set the clock from which rounds take their start.
	const tookMs = rounds.reduce(
		(sum, { recoveryMs, ranMs }) => sum + (recoveryMs ?? 0) + (ranMs ?? 0),
		0,
	);
	const parts = [
		formatCount(rounds.length, "round"),
		formatCount(restarts.used, "restart"),
		formatDuration(tookMs),
	];
	return `run ${runId} succeeded: ${parts.join(", ")}`;
}

function causeLines(cause: RootCause, ownNodeId: string): string[] {
	const { failure, error, lastLines } = cause;
	const message = error?.message ?? failure.message;
	return [
		plainMessage(rootCauseLine(failure)),
		`  ${[...endOf(failure), `local rank ${failure.localRank}`, `role ${plainMessage(failure.role)}`].join(", ")}`,
		...(failure.hint === undefined ? [] : indented("  hint: ", failure.hint)),
		...(failure.rule === undefined
			? []
			: [`  decided by ${plainMessage(failure.rule)}`]),
		...stepLine(cause),
		...(failure.startedWarm ? [WARM] : []),
		...(failure.evidence ?? []).map(
			(line) => `  ${shortened(plainMessage(line))}`,
		),
		...(message === undefined ? [] : indented("  error: ", message)),
		...stackLines(error?.stack),
		...(lastLines.length === 0 ? [] : ["  last lines of its stderr:"]),
		...lastLines.map((line) => `  | ${shortened(plainMessage(line))}`),
		...logLine(cause, ownNodeId),
	];
}

/** The evidence of a hang names the step itself. */
function stepLine({ failure, lastStep }: RootCause): string[] {
	if (lastStep === undefined || failure.evidence !== undefined) return [];
	const { step, secondsBefore } = lastStep;
	const before =
		secondsBefore === undefined
			? ""
			: `, ${formatDuration(secondsBefore * 1_000)} before`;
	return [`  last step: ${step}${before}`];
}

function logLine(
	{ failure, logFile, lostLogFile }: RootCause,
	ownNodeId: string,
): string[] {
	const { nodeId, pid } = failure;
	if (logFile !== undefined) return [`  log: ${plainMessage(logFile)}`];
	if (lostLogFile !== undefined) {
		return [
			`  log: ${plainMessage(lostLogFile)} was removed or renamed while the worker ran`,
		];
	}
	if (pid === null) return [];
	if (nodeId === ownNodeId)
		return ["  log: none: its stderr was not redirected"];
	return [`  log: on ${plainMessage(nodeId)}, if its streams were redirected`];
}

/** How long it ran and how it ended, unless the first line says so. */
function endOf(failure: RootCause["failure"]): string[] {
	const { pid, uptimeMs, signal, exitCode, description } = failure;
	if (failure.isGivenUp) return [];
	return [
		pid === null ? "" : `up ${formatDuration(uptimeMs)}`,
		signal === null ? "" : `signal ${signal}`,
		`exit code ${exitCode}`,
	].filter((part) => part !== "" && part !== description);
}

/** Keeps the end of a stack, where Python names the error. */
function stackLines(stack: string | undefined): string[] {
	if (stack === undefined) return [];
	const own = withoutLibraries(plainText(stack.trimEnd()));
	const lines = own.split("\n").map(shortened);
	const hidden = lines.length - MOST_STACK_LINES;
	if (hidden <= 0) return lines.map((line) => `    ${line}`);
	return [
		`    … ${formatCount(hidden, "more line")} in its error file`,
		...lines.slice(hidden).map((line) => `    ${line}`),
	];
}

function indented(label: string, text: string): string[] {
	return plainText(text.trimEnd())
		.split("\n")
		.slice(0, MOST_STACK_LINES)
		.map((line, index) => `${index === 0 ? label : "    "}${shortened(line)}`);
}

/** The workers that ended because of the cause, and those with failures unrelated to it. */
function otherWorkers({ workers, rootCause }: RunReport): string[] {
	const isRoot = (worker: WorkerResult) =>
		rootCause !== null &&
		worker.rank === rootCause.failure.rank &&
		worker.pid === rootCause.failure.pid;
	const others = workers.filter((worker) => !isRoot(worker));
	// If nothing failed, it died of the signal that the launcher received a moment later.
	const isStopped = ({ collateral, exitCode }: WorkerResult) =>
		collateral || (rootCause === null && STOP_CODES.includes(exitCode ?? 0));
	const stopped = others.filter(isStopped);
	const notStarted = others.filter(({ pid }) => pid === null);
	const failed = others.filter(
		(worker) =>
			!isStopped(worker) && worker.pid !== null && worker.exitCode !== 0,
	);
	return [
		...rankLine("stopped because of it", stopped),
		...rankLine("not started", notStarted),
		...(failed.length === 0
			? []
			: [`also failed: ${failed.map(describeExit).join(", ")}`]),
	];
}

function rankLine(what: string, workers: readonly WorkerResult[]): string[] {
	if (workers.length === 0) return [];
	const noun = workers.length === 1 ? "rank" : "ranks";
	return [`${what}: ${noun} ${formatRanks(workers.map(({ rank }) => rank))}`];
}

function describeExit({ rank, exitCode, signal }: WorkerResult): string {
	if (signal !== null) return `rank ${rank} (${signal})`;
	if (exitCode === null) return `rank ${rank} (still there)`;
	return `rank ${rank} (exit code ${exitCode})`;
}

function closingLines({
	restarts,
	rootCause,
	logDir,
	reason,
	repeated = [],
}: RunReport): string[] {
	const lines = [`restarts: ${restartsInWords(restarts)}`];
	if (rootCause !== null) lines.push(`ended: ${plainMessage(reason)}`);
	lines.push(...repeated.map((line) => `  ${shortened(plainMessage(line))}`));
	if (logDir !== null) lines.push(`logs: ${plainMessage(logDir)}`);
	return lines;
}

/**
 * "4 used, 1 of 3 in 6 h 0 min left (the next one comes back at 2026-11-26 12:00:00 UTC); this node: 1 of 2 left; role
 * reader: 4 of 5 left".
 */
function restartsInWords(restarts: RestartsUsed): string {
	const { node, roles = {} } = restarts;
	return [
		runBudget(restarts),
		...(node ? [leftOf("this node", node)] : []),
		...Object.entries(roles).map(([role, budget]) =>
			leftOf(`role ${plainMessage(role)}`, budget),
		),
	].join("; ");
}

function leftOf(owner: string, budget: RestartBudget): string {
	const { left, allowed, nextBackAt } = budget;
	return `${owner}: ${left} of ${allowed}${windowOf(budget)} left${backAt(nextBackAt)}`;
}

function runBudget(restarts: RestartsUsed): string {
	const { used, allowed, windowMs, left, nextBackAt } = restarts;
	if (left !== undefined) {
		return `${used} used, ${left} of ${allowed}${within(windowMs)} left${backAt(nextBackAt)}`;
	}
	return windowMs !== undefined || used > allowed
		? `${used}; each node, or each worker, has a budget of ${allowed}${within(windowMs)}`
		: `${used} of ${allowed} used`;
}

/** A report is read later: the time, not how long it takes. */
function backAt(nextBackAt: number | null | undefined): string {
	return nextBackAt == null
		? ""
		: ` (the next one comes back at ${formatInstant(nextBackAt)})`;
}

function shortened(line: string): string {
	if (line.length <= LONGEST_LINE_CHARACTERS) return line;
	return `${line.slice(0, LONGEST_LINE_CHARACTERS)}…`;
}

function paint(text: string, code: string, colour: boolean): string {
	return colour ? `${code}${text}${RESET}` : text;
}

/** The closing report shows this many rounds, the newest. */
const MOST_ROUNDS = 20;
const HEADER = ["round", "workers", "recovery", "ran", "ended by"] as const;

/** The run's rounds as an aligned table, one line per round; empty if there were none. */
function formatRounds(rounds: readonly RoundStory[]): string[] {
	if (rounds.length === 0) return [];
	const earlier = rounds.length - MOST_ROUNDS;
	const rows = rounds
		.slice(-MOST_ROUNDS)
		.map((story, index, all) => cellsOf(story, all[index - 1]));
	const table = align([HEADER, ...rows]);
	if (earlier <= 0) return table;
	const note = `  … ${formatCount(earlier, "earlier round")}`;
	return [...table.slice(0, 1), note, ...table.slice(1)];
}

function cellsOf(story: RoundStory, above?: RoundStory): string[] {
	const { round, worldSize, recoveryMs, ranMs, ending } = story;
	return [
		String(round),
		String(worldSize),
		recoveryMs === null ? "-" : formatDuration(recoveryMs),
		ranMs === null ? "-" : formatDuration(ranMs),
		above?.ending === ending ? "same as above" : plainMessage(ending),
	];
}

/** Aligns numbers to the right. The last column is not padded. */
function align(rows: readonly (readonly string[])[]): string[] {
	const widths = HEADER.map((_, column) =>
		Math.max(...rows.map((row) => row[column]?.length ?? 0)),
	);
	return rows.map((row) => {
		const last = row.length - 1;
		const cells = row.map((cell, column) =>
			column === last ? cell : cell.padStart(widths[column] ?? 0),
		);
		return `  ${cells.join("  ")}`;
	});
}
