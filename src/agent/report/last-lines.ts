import { plainLines } from "../logs/plain-text.js";
import { readFileSection } from "./file-section.js";

const LAST_BYTES = 64 * 1024;
const NEWLINE = 0x0a;

export interface LastLinesOptions {
	/** How many lines at most; 20 unless told. */
	readonly count?: number;
	/** Bytes before it are of an earlier process. */
	readonly from?: number;
}

/**
 * The last lines of a log, from its last 64 KiB, control sequences removed;
 * empty where it cannot be read. Never throws.
 */
export function lastLines(
	path: string,
	{ count = 20, from = 0 }: LastLinesOptions = {},
): string[] {
	const section = readFileSection(path, from, LAST_BYTES);
	if (section === undefined) return [];
	const { bytes, start } = section;
	// The first line is only a piece, unless it is the only one.
	const cut = start > from ? bytes.indexOf(NEWLINE) + 1 : 0;
	const whole = cut < bytes.length ? bytes.subarray(cut) : bytes;
	const lines = plainLines(whole);
	while (lines.at(-1)?.trim() === "") lines.pop();
	return lines.slice(-count);
}
