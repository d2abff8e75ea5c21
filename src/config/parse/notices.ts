import { didYouMean } from "../../base/nearest-name.js";
import type { NoticeChoice, NoticesConfig } from "../agent-config.js";
import {
	allOf,
	invalid,
	inWords,
	ok,
	type Parsed,
	parseDuration,
	problem,
	quote,
} from "./scalars.js";

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

/** A duration in milliseconds, or the platform's. 0: it gives none. */
export function parseTerminationGrace(text: string): Parsed<number | "auto"> {
	return text === "auto" ? ok("auto") : parseDuration(text);
}

const ISO_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}/;

/** A duration from now, or an ISO time; returns milliseconds since 1970. `wallTime`: now. */
export function parseDeadline(
	wallTime: number,
): (text: string) => Parsed<number> {
	return (text) => {
		const duration = parseDuration(text);
		if ("value" in duration) return ok(Math.round(wallTime) + duration.value);
		const at = ISO_TIME.test(text) ? Date.parse(text) : Number.NaN;
		if (Number.isNaN(at)) {
			return problem(
				`${quote(text)} is neither a duration (90, 10m, 2h) nor an ISO time (2026-11-26T12:00:00Z)`,
			);
		}
		// A slip of the year must not end a node at once.
		return at < wallTime
			? problem(`${quote(text)} is over: use a later time, or 0 for now`)
			: ok(at);
	};
}
