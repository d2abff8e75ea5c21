import { didYouMean } from "../../base/nearest-name.js";
import { type Parsed, problem } from "./parsed.js";
import { parseText } from "./scalars.js";

const NAMES: readonly string[] = [
	"node",
	"rank",
	"local_rank",
	"role",
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
