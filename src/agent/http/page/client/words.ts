import { dateAndTime, timeOfDay } from "../../../report/local-time.js";
import { formatDuration } from "../../../report/units.js";

const DAY_MS = 86_400_000;
/** Of nodes that came or went together. */
const MOST_NAMES = 8;

/** "340 ms", or "–" where it is not known. */
export function duration(ms: number | null): string {
	return ms === null ? "–" : formatDuration(ms);
}

/** How long ago that was, to the second. */
export function ago(time: number | null, now: number): string {
	if (time === null) return "–";
	const seconds = Math.max(0, Math.floor((now - time) / 1_000));
	return seconds < 100 ? `${seconds} s` : formatDuration(seconds * 1_000);
}

/** The time of day; of what was more than a day ago with its date. */
export function clockTime(time: number, now: number): string {
	return Math.abs(now - time) < DAY_MS ? timeOfDay(time) : dateAndTime(time);
}

/** "node-a, node-b and 3 more". */
export function listed(names: readonly string[], most: number): string {
	const shown = names.slice(0, most).join(", ");
	const others = names.length - most;
	return others > 0 ? `${shown} and ${others} more` : shown;
}

/** "+ node-c, node-d": who came or went, as far as the reason does not say so already. */
export function changes(
	sign: "+" | "−",
	names: readonly string[],
	reason: string,
): string {
	const said = new Set(reason.split(/[^\w.-]+/));
	const others = names.filter((name) => !said.has(name));
	return others.length === 0 ? "" : ` ${sign} ${listed(others, MOST_NAMES)}`;
}

/** At most so many characters; what is left out is in the middle, since names often differ at their ends. */
export function shortened(name: string, most: number): string {
	if (name.length <= most) return name;
	const tail = Math.ceil((most - 1) / 2);
	return `${name.slice(0, most - 1 - tail)}…${name.slice(-tail)}`;
}
