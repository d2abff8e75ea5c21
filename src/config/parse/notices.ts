import { didYouMean } from "../../base/nearest-name.js";
import type { NoticeChoice, NoticesConfig } from "../agent-config.js";
import { allOf, invalid, ok, type Parsed, problem, quote } from "./parsed.js";
import { inWords, parseDuration } from "./scalars.js";

const WORDS = ["aws", "gcp", "azure", "slurm"] as const;
const FILE = "file:";

/** `auto`, `off`, or sources separated by commas. Paths are as they were typed. */
export function parseNotices(text: string): Parsed<NoticesConfig["sources"]> {
	if (text === "auto") return ok("auto");
	if (text === "off") return ok([]);
	return allOf(text.split(",").map((word) => parseChoice(word.trim())));
}

function parseChoice(text: string): Parsed<NoticeChoice> {
	if (text.startsWith(FILE)) {
		const path = text.slice(FILE.length);
		return path === ""
			? invalid(text, "file:PATH with the path of a file")
			: ok({ path });
	}
	const word = WORDS.find((one) => one === text);
	if (word !== undefined) return ok(word);
	return problem(
		`${quote(text)} is unknown; use auto, off, or some of ${inWords([...WORDS, "file:PATH"])}, separated by commas${didYouMean(text, ["auto", "off", ...WORDS])}`,
	);
}

/** A duration that is not 0; in milliseconds. */
export function parseSomeTime(text: string): Parsed<number> {
	const parsed = parseDuration(text);
	return "value" in parsed && parsed.value === 0
		? invalid(text, "a duration of more than 0")
		: parsed;
}
