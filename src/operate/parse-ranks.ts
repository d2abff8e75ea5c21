import { ok, type Parsed, problem, quote } from "../config/parse/parsed.js";
import { wholeNumber } from "../config/parse/scalars.js";

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
