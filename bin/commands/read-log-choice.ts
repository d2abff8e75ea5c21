import { messageOf } from "../../src/base/errors.js";
import type { Parsed } from "../../src/config/parse/parsed.js";
import { parseCount, parseDuration } from "../../src/config/parse/scalars.js";
import type { Settings } from "../../src/config/settings.js";
import { parseRanks } from "../../src/operate/parse-ranks.js";
import type { LineChoice } from "../../src/operate/show-logs.js";
import { FlagReader } from "./flag-reader.js";

/**
 * The lines to show, chosen by the flags of `logs`.
 * @param now milliseconds since 1970
 */
export function readLogChoice(
	flags: Settings,
	now: number,
): LineChoice | { readonly problems: readonly string[] } {
	const reader = new FlagReader("logs", flags);
	const hasRank = reader.read("rank", parseRanks);
	const pattern = reader.read("grep", parsePattern);
	const tail = reader.read("tail", parseCount);
	const age = reader.read("since", parseDuration);
	const { problems } = reader;
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
