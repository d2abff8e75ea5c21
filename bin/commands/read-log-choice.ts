import { messageOf } from "../../src/base/errors.js";
import type { Parsed } from "../../src/config/parse/parsed.js";
import { parseCount, parseDuration } from "../../src/config/parse/scalars.js";
import { parseRanks } from "../../src/operate/parse-ranks.js";
import type { LineChoice } from "../../src/operate/show-logs.js";

/**
 * The lines to show, chosen by the flags of `logs`.
 * @param now milliseconds since 1970
 */
export function readLogChoice(
	own: ReadonlyMap<string, string>,
	now: number,
): LineChoice | { readonly problems: readonly string[] } {
	const problems: string[] = [];
	const read = <T>(name: string, parse: (text: string) => Parsed<T>) => {
		const text = own.get(name);
		if (text === undefined) return undefined;
		const parsed = parse(text);
		if (!("problems" in parsed)) return parsed.value;
		problems.push(...parsed.problems.map((words) => `--${name}: ${words}`));
		return undefined;
	};
	const hasRank = read("rank", parseRanks);
	const pattern = read("grep", parsePattern);
	const tail = read("tail", parseCount);
	const age = read("since", parseDuration);
	const since = age === undefined ? undefined : now - age;
	return problems.length > 0 ? { problems } : { hasRank, pattern, tail, since };
}

function parsePattern(text: string): Parsed<RegExp> {
	try {
		return { value: new RegExp(text) };
	} catch (error) {
		return { problems: [messageOf(error)] };
	}
}
