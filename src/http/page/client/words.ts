import { dateAndTime, timeOfDay } from "../../../base/local-time.js";
import { formatDuration } from "../../../base/units.js";

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

/** "node-a, node-b and 3 more". */
export function listed(names: readonly string[], most: number): string {
	const shown = names.slice(0, most).join(", ");
	const others = names.length - most;
	return others > 0 ? `${shown} and ${others} more` : shown;
}

/** "+ node-c, node-d": the nodes that came or went, unless the reason names them. */
export function changes(
	sign: "+" | "−",
	names: readonly string[],
	reason: string,
): string {
	const said = new Set(reason.split(/[^\w.-]+/));
	const others = names.filter((name) => !said.has(name));
	return others.length === 0 ? "" : ` ${sign} ${listed(others, MOST_NAMES)}`;
}

/** At most this many characters; cut in the middle, since names often differ at their ends. */
export function shortened(name: string, most: number): string {
	if (name.length <= most) return name;
	const tail = Math.ceil((most - 1) / 2);
	return `${name.slice(0, most - 1 - tail)}…${name.slice(-tail)}`;
}
