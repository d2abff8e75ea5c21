import { pause } from "../base/back-off.js";
import { findKnownAgents } from "./find-agent.js";
import type { RunLogs } from "./find-logs.js";
import { LogFolder, launcherWords } from "./log-folder.js";
import type { LineOrigin, LogLine } from "./log-source.js";
import { mergeLines } from "./merge-lines.js";
import type { Searcher } from "./status/find-runs.js";

/** How often followed files are checked, in milliseconds. */
const LOOK_EVERY_MS = 200;

/** Which lines to show. */
export interface LineChoice {
	/** Only lines of these ranks, without the launcher's own; undefined: all. */
	readonly hasRank: ((rank: number) => boolean) | undefined;
	/** Only lines that match; undefined: all. */
	readonly pattern: RegExp | undefined;
	/** At first only this many lines, the last ones; undefined: all. */
	readonly tail: number | undefined;
	/** No line with an older time, in milliseconds since 1970; undefined: all. */
	readonly since: number | undefined;
}

export interface ShowLogsOptions extends LineChoice {
	readonly logs: RunLogs;
	/** Continues until none of the run's launchers on this machine is left. */
	readonly follows: boolean;
	readonly searcher: Searcher;
	/** Returns whether to continue. */
	readonly onLine: (line: LogLine) => Promise<boolean>;
}

/** A summary of the lines shown. */
export interface ShownLogs {
	/** Workers' files with lines. */
	readonly files: number;
	/** Files in which no line has a time. */
	readonly filesWithoutTimes: number;
}

/** Shows the lines of a run's logs by time. Followed lines are shown as they come. */
export async function showLogs(options: ShowLogsOptions): Promise<ShownLogs> {
	const { logs, follows, searcher, onLine } = options;
	let { tail } = options;
	const folder = new LogFolder(logs.nodes);
	const seen = new Set<string>();
	for (;;) {
		const isLast = !follows || !isAnyoneHere(logs, searcher);
		folder.refresh(isLast);
		const all = wanted(folder, options, isLast);
		const lines = tail === undefined ? all : lastOf(all, tail);
		tail = undefined;
		for (const line of lines) {
			if (line.stream !== "launcher") seen.add(keyOf(line));
			if (!(await onLine(line))) return countOf(folder, seen);
		}
		if (isLast) return countOf(folder, seen);
		await pause(searcher.clock, LOOK_EVERY_MS);
	}
}

function* wanted(
	folder: LogFolder,
	{ hasRank, pattern, since = 0 }: LineChoice,
	isLast: boolean,
): Generator<LogLine> {
	const sources = folder.sources.filter(
		({ changedAt, origin: { rank } }) =>
			changedAt >= since &&
			(hasRank === undefined || (rank !== null && hasRank(rank))),
	);
	for (const line of mergeLines(sources, isLast)) {
		if (line.timeFrom !== "file" && line.time < since) continue;
		const shown = inWords(line);
		if (pattern?.test(shown.text) !== false) yield shown;
	}
}

function lastOf(lines: Iterable<LogLine>, count: number): readonly LogLine[] {
	let last: LogLine[] = [];
	for (const line of lines) {
		last.push(line);
		if (last.length > 2 * count) last = last.slice(last.length - count);
	}
	return last.slice(Math.max(0, last.length - count));
}

function isAnyoneHere(
	{ runId, instance }: RunLogs,
	searcher: Searcher,
): boolean {
	return findKnownAgents({ runId, nodeId: undefined }, searcher).some(
		({ node }) => node.instance === instance,
	);
}

function inWords(line: LogLine): LogLine {
	if (line.stream !== "launcher") return line;
	return { ...line, text: launcherWords(line.text) };
}

function keyOf({ nodeId, round, localRank, stream }: LineOrigin): string {
	return [nodeId, round, localRank, stream].join("/");
}

function countOf(folder: LogFolder, seen: ReadonlySet<string>): ShownLogs {
	const shown = folder.sources.filter(({ origin }) => seen.has(keyOf(origin)));
	const without = shown.filter(({ hasTimes }) => !hasTimes);
	return { files: shown.length, filesWithoutTimes: without.length };
}
