import { dateAndTime, timeOfDay } from "../../base/local-time.js";
import { formatDuration } from "../../base/units.js";

const DAY_MS = 86_400_000;
/** The most names of nodes that came or went together. */
const MOST_NAMES = 8;

/** "340 ms", or "–" if unknown. */
export function duration(ms: number | null): string {
	return ms === null ? "–" : formatDuration(ms);
}

/** How long ago, in seconds. */
export function ago(time: number | null, now: number): string {
	if (time === null) return "–";
	const seconds = Math.max(0, Math.floor((now - time) / 1_000));
	return seconds < 100 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** The time of day; with the date if more than a day ago. */
export function clockTime(time: number, now: number): string {
	return Math.abs(now - time) < DAY_MS ? timeOfDay(time) : dateAndTime(time);
}

/** " + node-c, node-d": the nodes that came or went, unless the reason names them. */
export function changes(
	sign: "+" | "−",
	names: readonly string[],
	reason: string,
): string {
	const named = new Set(reason.split(/[^\w.-]+/));
	const others = names.filter((name) => !named.has(name));
	if (others.length === 0) return "";
	const more = others.length - MOST_NAMES;
	const shown = others.slice(0, MOST_NAMES).join(", ");
	return ` ${sign} ${shown}${more > 0 ? ` and ${more} more` : ""}`;
}

/** A reason, with the process that it is about. */
export function withPid(reason: string, pid: number | null | undefined) {
	return `${plain(reason)}${pid == null ? "" : ` (pid ${pid})`}`;
}

/** At most this many characters; cut in the middle, since names often differ at their ends. */
export function shortened(name: string, most: number): string {
	if (name.length <= most) return name;
	const tail = Math.ceil((most - 1) / 2);
	return `${name.slice(0, most - 1 - tail)}…${name.slice(-tail)}`;
}

export function capital(words: string): string {
	return words.slice(0, 1).toUpperCase() + words.slice(1);
}

/** After an ESC: colours and moves; titles, links and pictures, which BEL or the next ESC ends; all else is short. */
const SEQUENCE = String.raw`\x1b(?:\[[0-?]*[ -/]*[@-~]?|[\]PX^_][^\x07\x1b]*\x07?|[ -/]*[0-~]?)`;
/** Control characters except tabs, and characters that change the text direction. */
const UNSEEN = String.raw`[^\P{Cc}\t]|\p{Bidi_Control}`;
const NOT_TEXT = new RegExp(`${SEQUENCE}|${UNSEEN}`, "gu");

/** A worker's or peer's line without control sequences. */
export function plain(line: string): string {
	return line.replace(NOT_TEXT, "");
}
