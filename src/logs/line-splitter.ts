import { endOfSequence } from "./control-sequences.js";
import {
	CARRIAGE_RETURN,
	ESCAPE,
	LONGEST_SHOWN_LINE_BYTES,
	NEWLINE,
} from "./line-limits.js";
import { cutBetweenCharacters } from "./utf8.js";

/** `lines`: whole lines only; `progress`: also a progress bar's newest state; `everything`: also the unfinished last line. */
export type Eagerness = "lines" | "progress" | "everything";

/** How far before a cut a control sequence can begin that the cut would split. */
const LONGEST_TORN_SEQUENCE_BYTES = 64;

/**
 * The end of what can be shown of chunk[start, end); `start` if it must wait for more. A line beyond the limit is shown
 * in pieces, cut between characters, and in a progress bar between its states.
 */
export function showableEnd(
	chunk: Buffer,
	start: number,
	end: number,
	eagerness: Eagerness,
): number {
	const bytes = chunk.subarray(start, end);
	const newline = bytes.lastIndexOf(NEWLINE);
	if (newline >= 0) return start + newline + 1;
	const tooLong = bytes.length >= LONGEST_SHOWN_LINE_BYTES;
	if (eagerness === "everything" && !tooLong) return end;
	if (eagerness === "lines" && !tooLong) return start;
	const limit = Math.min(end, start + LONGEST_SHOWN_LINE_BYTES);
	const state = chunk.subarray(start, limit).lastIndexOf(CARRIAGE_RETURN);
	if (state > 0) return start + state;
	return tooLong ? cutBetweenSequences(chunk, start, limit) : start;
}

function cutBetweenSequences(
	chunk: Buffer,
	start: number,
	limit: number,
): number {
	const from = limit - LONGEST_TORN_SEQUENCE_BYTES;
	const opener = chunk.subarray(from, limit).lastIndexOf(ESCAPE);
	const torn =
		opener >= 0 && endOfSequence(chunk, from + opener, limit) === limit;
	return torn ? from + opener : cutBetweenCharacters(chunk, start, limit);
}
