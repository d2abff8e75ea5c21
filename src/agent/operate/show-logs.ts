import { pause } from "../../rendezvous/back-off.js";
import type { Searcher } from "../status/find-runs.js";
import { findKnownAgents } from "./find-agent.js";
import type { RunLogs } from "./find-logs.js";
import { LogFolder, launcherWords } from "./log-folder.js";
import type { LineOrigin, LogLine } from "./log-source.js";
import { mergeLines } from "./merge-lines.js";

/** How often files that are followed are looked at, in milliseconds. */
const LOOK_EVERY_MS = 200;

export interface ShowLogsOptions {
	readonly logs: RunLogs;
	/** Goes on until none of the run's launchers of this machine is left. */
	readonly follows: boolean;
	/** Of these ranks only, the launcher's own lines left out; undefined: all. */
	readonly hasRank: ((rank: number) => boolean) | undefined;
	/** Only lines whose text has it; undefined: all. */
	readonly pattern: RegExp | undefined;
	readonly searcher: Searcher;
	/** Returns whether anybody wants more. */
	readonly onLine: (line: LogLine) => Promise<boolean>;
}

/** What was shown of a run's logs. */
export interface ShownLogs {
	/** Files of workers that have lines. */
	readonly files: number;
	/** Those in which no line says its time. */
	readonly filesWithoutTimes: number;
}

/** Shows the lines of a run's logs by time. What comes while they are followed is shown as it comes. */
export async function showLogs(options: ShowLogsOptions): Promise<ShownLogs> {
	const { logs, follows, searcher } = options;
	const folder = new LogFolder(logs.nodes);
	const seen = new Set<string>();
	for (;;) {
		const isLast = !follows || !isAnyoneHere(logs, searcher);
		folder.refresh(isLast);
		for (const line of mergeLines(chosen(folder, options), isLast)) {
			if (line.stream !== "launcher") seen.add(keyOf(line));
			const shown = inWords(line);
			if (options.pattern?.test(shown.text) === false) continue;
			if (!(await options.onLine(shown))) return countOf(folder, seen);
		}
		if (isLast) return countOf(folder, seen);
		await pause(searcher.clock, LOOK_EVERY_MS);
	}
}

function chosen(folder: LogFolder, { hasRank }: ShowLogsOptions) {
	return folder.sources.filter(
		({ origin: { rank } }) =>
			hasRank === undefined || (rank !== null && hasRank(rank)),
	);
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
