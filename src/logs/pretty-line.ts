import { dateAndTime, timeOfDay } from "../base/local-time.js";
import { plainMessage } from "./plain-text.js";

export interface LineLook {
	/** Whether the time includes the date: needed where the line is read later than it is written. */
	readonly dated: boolean;
	readonly colours: boolean;
}

interface LoggedLine {
	readonly level: string;
	/** Milliseconds since 1970. */
	readonly time: number;
	readonly msg: string;
}

const LEVELS = new Map([
	["error", { word: "error: ", colour: 31 }],
	["warn", { word: "warning: ", colour: 33 }],
]);

/**
 * `12:03:04.123 RUNNING→STOPPING rank 2 failed: exit code 1`, made from the JSON of the log file. The details stay in the
 * file.
 */
export function prettyLine(json: string, look: LineLook): string {
	const { level, time, msg }: LoggedLine = JSON.parse(json);
	const clock = look.dated ? dateAndTime(time) : timeOfDay(time);
	const milliseconds = String(time % 1_000).padStart(3, "0");
	const { word = "", colour } = LEVELS.get(level) ?? {};
	const message = `${word}${plainMessage(msg)}`;
	const paint = (text: string, code: number | undefined) =>
		look.colours && code !== undefined ? `\x1b[${code}m${text}\x1b[39m` : text;
	return `${paint(`${clock}.${milliseconds}`, 90)} ${paint(message, colour)}\n`;
}
