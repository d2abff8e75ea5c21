import { didYouMean } from "../../base/nearest-name.js";
import type { StreamSelection } from "../../model/index.js";
import {
	allOf,
	invalid,
	mapParsed,
	ok,
	type Parsed,
	parseText,
	problem,
	quote,
	wholeNumber,
} from "./scalars.js";

/** One selection for every local rank, or one per local rank; a rank missing from the map has none. */
export type StreamMap =
	| { readonly all: StreamSelection }
	| { readonly byLocalRank: ReadonlyMap<number, StreamSelection> };

const NONE: StreamSelection = { stdout: false, stderr: false };

const SELECTIONS: ReadonlyMap<string, StreamSelection> = new Map([
	["0", NONE],
	["1", { stdout: true, stderr: false }],
	["2", { stdout: false, stderr: true }],
	["3", { stdout: true, stderr: true }],
]);

const ALLOWED =
	"0 (none), 1 (stdout), 2 (stderr) or 3 (both), or by local rank, for example 0:1,1:3";

/** `3`, or `0:1,1:3`. */
export function parseStreamMap(text: string): Parsed<StreamMap> {
	const all = SELECTIONS.get(text);
	if (all !== undefined) return ok({ all });
	const byLocalRank = new Map<number, StreamSelection>();
	for (const entry of text.split(",")) {
		const [, rank = "", digit = ""] =
			/^(\d+):([0-3])$/.exec(entry.trim()) ?? [];
		const localRank = wholeNumber(rank, 0);
		const selection = SELECTIONS.get(digit);
		if (localRank === undefined || selection === undefined) {
			return invalid(text, ALLOWED);
		}
		if (byLocalRank.has(localRank)) {
			return problem(
				`${quote(text)} names local rank ${localRank} twice; name it once`,
			);
		}
		byLocalRank.set(localRank, selection);
	}
	return ok({ byLocalRank });
}

/** Returns one entry per local rank. */
export function selectStreams(
	map: StreamMap,
	localWorldSize: number,
): StreamSelection[] {
	return Array.from({ length: localWorldSize }, (_, localRank) =>
		"all" in map ? map.all : (map.byLocalRank.get(localRank) ?? NONE),
	);
}

/** What goes to files: the redirected streams, and all that are shown, because the console reads the files. */
export function redirectWhatIsShown(
	redirects: readonly StreamSelection[],
	tee: readonly StreamSelection[],
): StreamSelection[] {
	return redirects.map((redirect, localRank) => {
		const shown = tee[localRank] ?? NONE;
		return {
			stdout: redirect.stdout || shown.stdout,
			stderr: redirect.stderr || shown.stderr,
		};
	});
}

/** `0,2`: local ranks, sorted, without duplicates. */
export function parseLocalRanks(text: string): Parsed<readonly number[]> {
	const ranks = allOf(
		text.split(",").map((entry) => {
			const rank = wholeNumber(entry.trim(), 0);
			return rank === undefined
				? invalid(entry, "local ranks separated by commas, for example 0,2")
				: ok(rank);
		}),
	);
	return mapParsed(ranks, (all) => [...new Set(all)].sort((a, b) => a - b));
}

const NAMES: readonly string[] = [
	"node",
	"rank",
	"local_rank",
	"role",
	"role_name",
	"round",
];

const placeholder = (name: string) => `\${${name}}`;

export const DEFAULT_LOG_PREFIX = `[${placeholder("node")} ${placeholder("rank")}] `;

/** The placeholders of a log prefix, as a list for messages. */
export const LOG_PREFIX_PLACEHOLDERS = NAMES.map(placeholder).join(", ");

/** A text with placeholders such as `${node}` and `${rank}`. */
export function parseLogPrefix(text: string): Parsed<string> {
	for (const [found, name = ""] of text.matchAll(/\$\{([^}]*)\}?/g)) {
		if (NAMES.includes(name) && found === placeholder(name)) continue;
		return problem(
			`${found} is unknown; use ${LOG_PREFIX_PLACEHOLDERS}${didYouMean(name, NAMES)}`,
		);
	}
	return parseText(text);
}
