import { ESCAPE, NEWLINE } from "./line-limits.js";

const BELL = 0x07;
const BACKSLASH = 0x5c;
const LETTER_M = 0x6d;
/** No real colour is longer; a longer one is dropped. */
const LONGEST_COLOUR_BYTES = 64;

/**
 * The end of the terminal control sequence that starts with the ESC at `at`. A sequence never extends beyond its line, so
 * that a forged one cannot swallow what follows. A truncated one ends where it becomes invalid.
 */
export function endOfSequence(
	input: Uint8Array,
	at: number,
	end: number,
): number {
	const kind = at + 1 < end ? (input[at + 1] ?? 0) : 0;
	if (kind === 0x5b) return endOfParameters(input, at + 2, end);
	if (isStringOpener(kind)) return endOfString(input, at + 2, end);
	let next = at + 1;
	while (next < end && isBetween(input[next], 0x20, 0x2f)) next += 1;
	return next < end && isBetween(input[next], 0x30, 0x7e) ? next + 1 : next;
}

/** Whether input[at, end), a whole sequence, only sets colours and styles (SGR). */
export function isColour(input: Uint8Array, at: number, end: number): boolean {
	if (input[at + 1] !== 0x5b || input[end - 1] !== LETTER_M) return false;
	if (end - at > LONGEST_COLOUR_BYTES) return false;
	for (let next = at + 2; next < end - 1; next += 1) {
		// Only digits, ":" and ";": "ESC [ > 4 m" sets keyboard modes, no colour.
		if (!isBetween(input[next], 0x30, 0x3b)) return false;
	}
	return true;
}

/** Whether the colour input[at, end) is `ESC [ m` or `ESC [ 0 m`. */
export function isColourReset(
	input: Uint8Array,
	at: number,
	end: number,
): boolean {
	return end - at === 3 || (end - at === 4 && input[at + 2] === 0x30);
}

function endOfParameters(input: Uint8Array, from: number, end: number): number {
	let next = from;
	while (next < end && isBetween(input[next], 0x20, 0x3f)) next += 1;
	return next < end && isBetween(input[next], 0x40, 0x7e) ? next + 1 : next;
}

/** Strings (titles, clipboard, pictures) end with BEL or ESC \, and here also at the line's end. */
function endOfString(input: Uint8Array, from: number, end: number): number {
	for (let next = from; next < end; next += 1) {
		const byte = input[next];
		if (byte === BELL) return next + 1;
		if (byte === NEWLINE) return next;
		if (byte === ESCAPE) {
			return input[next + 1] === BACKSLASH && next + 1 < end ? next + 2 : next;
		}
	}
	return end;
}

/** P, X, ], ^ and _ open device control, start of string, OS, privacy and application strings. */
function isStringOpener(byte: number): boolean {
	return byte === 0x50 || byte === 0x58 || (byte >= 0x5d && byte <= 0x5f);
}

function isBetween(
	byte: number | undefined,
	low: number,
	high: number,
): boolean {
	return byte !== undefined && byte >= low && byte <= high;
}
