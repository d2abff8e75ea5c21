import { pause } from "../base/back-off.js";
import { dateAndTime } from "../base/local-time.js";
import {
	ok,
	type Parsed,
	problem,
	quote,
	wholeNumber,
} from "../config/index.js";
import { paintForRank, plainText } from "../logs/index.js";
import { findKnownAgents } from "./find-agent.js";
import type { RunLogs } from "./find-logs.js";
import { LogFolder, launcherWords } from "./find-logs.js";
import type { Searcher } from "./found-runs.js";
import type { LineOrigin, LogLine } from "./log-source.js";

/** How often followed files are checked, in milliseconds. */
const LOOK_EVERY_MS = 200;

export interface LineChoice {
	/** Only lines of these ranks, without the launcher's own; undefined: all. */
	readonly hasRank: ((rank: number) => boolean) | undefined;
	/** Only lines that match; undefined: all. */
	readonly pattern: RegExp | undefined;
	/** At first only this many lines of each worker and each launcher, the last ones; undefined: all. */
	readonly tail: number | undefined;
	/** No line with an older time, in milliseconds since 1970; undefined: all. */
	readonly since: number | undefined;
}

interface ShowLogsOptions extends LineChoice {
	readonly logs: RunLogs;
	/** Continues until none of the run's launchers on this machine is left. */
	readonly follows: boolean;
	readonly searcher: Searcher;
	/** Returns whether to continue. */
	readonly onLine: (line: LogLine) => Promise<boolean>;
}

interface ShownLogs {
	/** Workers' files with lines. */
	readonly files: number;
	/** Files in which no line has a time. */
	readonly filesWithoutTimes: number;
	/** Whether a round has begun here, as far as the logs tell. */
	readonly hasRound: boolean;
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
		const lines = tail === undefined ? all : lastOfEach(all, tail);
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

/** A node's launcher has no local rank. */
function lastOfEach(
	lines: Iterable<LogLine>,
	count: number,
): readonly LogLine[] {
	const last = new Map<string, { at: number; line: LogLine }[]>();
	const newest = <Item>(items: Item[]) =>
		items.slice(Math.max(0, items.length - count));
	let at = 0;
	for (const line of lines) {
		const key = `${line.nodeId}/${line.localRank}`;
		const known = last.get(key) ?? [];
		known.push({ at: at++, line });
		last.set(key, known.length > 2 * count ? newest(known) : known);
	}
	return [...last.values()]
		.flatMap(newest)
		.sort((left, right) => left.at - right.at)
		.map(({ line }) => line);
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
	return {
		files: shown.length,
		filesWithoutTimes: without.length,
		hasRound: folder.hasRound,
	};
}

/** Ranks from the first to the last, inclusive. */
type Range = readonly [first: number, last: number];

/** `0,3-5`: whether a rank is among these. */
export function parseRanks(text: string): Parsed<(rank: number) => boolean> {
	const ranges: Range[] = [];
	for (const entry of text.split(",")) {
		const [from = "", to = from, ...others] = entry.trim().split("-");
		const first = wholeNumber(from, 0);
		const last = wholeNumber(to, 0);
		const isRange = first !== undefined && last !== undefined && first <= last;
		if (!isRange || others.length > 0) {
			return problem(
				`${quote(text)} is not valid; use ranks and ranges of them, for example 0,3-5`,
			);
		}
		ranges.push([first, last]);
	}
	return ok((rank) =>
		ranges.some(([first, last]) => first <= rank && rank <= last),
	);
}

interface LineLook {
	readonly hasTime: boolean;
	/** The prefix of a worker's line is coloured by rank, as on the console. */
	readonly colours: boolean;
}

/** As long as a date and time with milliseconds. */
const NO_TIME = "(no time)".padEnd(23);

/** A line of a run's logs for people: `[node-a 3] step 7`. */
export function lineInWords(line: LogLine, look: LineLook): string {
	const { nodeId, rank, localRank, stream, text } = line;
	const who =
		stream === "launcher" ? "launcher" : (rank ?? `local rank ${localRank}`);
	const prefix = `[${plainText(nodeId)} ${who}]`;
	const painted =
		look.colours && rank !== null ? paintForRank(prefix, rank) : prefix;
	return `${look.hasTime ? `${timeOf(line)} ` : ""}${painted} ${text}`;
}

function timeOf({ time, timeFrom }: LogLine): string {
	if (timeFrom === "file") return NO_TIME;
	const milliseconds = String(Math.floor(time) % 1_000).padStart(3, "0");
	return `${dateAndTime(time)}.${milliseconds}`;
}

/** A source of lines in order; their times never decrease. */
export interface LineSource {
	/** None of its lines is older. */
	readonly bornAt: number;
	/** Decides the order of lines with the same time. */
	readonly path: string;
	peek(isLast: boolean): LogLine | undefined;
	advance(): void;
}

/**
 * The present lines of all sources by time; those of one source stay in order. A source is not read before its time.
 * @param isLast whether an unfinished last line counts
 */
export function* mergeLines(
	sources: readonly LineSource[],
	isLast: boolean,
): Generator<LogLine> {
	const waiting = [...sources].sort(
		(left, right) =>
			left.bornAt - right.bornAt || compareTexts(left.path, right.path),
	);
	const ready: { readonly source: LineSource; readonly line: LogLine }[] = [];
	/** Inserts after all that are not later; a continuation of the line just taken goes before those of the same time. */
	const queue = (source: LineSource, goesOn: boolean) => {
		const line = source.peek(isLast);
		if (line === undefined) return;
		let low = 0;
		let high = ready.length;
		while (low < high) {
			const middle = (low + high) >> 1;
			const { time = line.time } = ready[middle]?.line ?? {};
			if (goesOn ? time < line.time : time <= line.time) low = middle + 1;
			else high = middle;
		}
		ready.splice(low, 0, { source, line });
	};
	for (;;) {
		for (
			let next = waiting[0];
			next && (ready[0] === undefined || next.bornAt <= ready[0].line.time);
			next = waiting[0]
		) {
			waiting.shift();
			queue(next, false);
		}
		const first = ready.shift();
		if (first === undefined) return;
		yield first.line;
		first.source.advance();
		queue(first.source, true);
	}
}

function compareTexts(left: string, right: string): number {
	if (left === right) return 0;
	return left < right ? -1 : 1;
}
