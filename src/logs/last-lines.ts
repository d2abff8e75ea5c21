import { HeldFile } from "./held-file.js";
import { plainLines } from "./plain-text.js";

const LAST_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LastLinesOptions {
	/** The most lines; default: 20. */
	readonly count?: number;
	/** Earlier bytes belong to an earlier process. */
	readonly from?: number;
}

/** The last lines of a log, from its last 64 KiB, without control sequences; empty if it cannot be read. Never throws. */
export function lastLines(
	file: string | HeldFile,
	{ count = 20, from = 0 }: LastLinesOptions = {},
): string[] {
	const held = typeof file === "string" ? new HeldFile(file) : file;
	const section = held.section(from, LAST_BYTES);
	if (section === undefined) return [];
	const { bytes, start } = section;
	// The first line is incomplete, unless it is the only one.
	const cut = start > from ? bytes.indexOf(NEWLINE) + 1 : 0;
	const whole = cut < bytes.length ? bytes.subarray(cut) : bytes;
	const lines = plainLines(whole);
	while (lines.at(-1)?.trim() === "") lines.pop();
	return lines.slice(-count);
}
