import { endOfSequence, isColour, isColourReset } from "./control-sequences.js";
import {
	CARRIAGE_RETURN,
	ESCAPE,
	LONGEST_SHOWN_LINE_BYTES,
	NEWLINE,
	TAB,
} from "./line-limits.js";
import { characterLength } from "./utf8.js";

/** Room beyond the longest line: its last colour, the reset and the newline. */
const SLACK_BYTES = 128;
const OUTPUT_BYTES = 512 * 1024;
/** A longer prefix is cut, so that a line always fits the output. */
const LONGEST_PREFIX_BYTES = 64 * 1024;
const COLOUR_RESET = Buffer.from("\x1b[0m");

/** How lines are shown. */
export interface LineStyle {
	/** Goes before every line, as it is. */
	readonly prefix: Uint8Array;
	/** Whether the lines' own colours stay. */
	readonly colours: boolean;
}

/**
 * Turns raw output into lines for people, byte by byte and without a string
 * for each: the prefix before every line, control characters and sequences
 * other than colours removed, of a line that was overwritten by carriage
 * returns (a progress bar) the last state only, a newline after the last line.
 * A colour that a line leaves on is switched off at its end.
 *
 * One buffer is used again and again: the caller takes `output()` before the
 * next call of `render`.
 */
export class LineRenderer {
	readonly #output = Buffer.allocUnsafe(OUTPUT_BYTES);
	#length = 0;
	/** Where the current line's text starts, after its prefix. */
	#textStart = 0;
	#colourOn = false;
	/** A carriage return was seen: the next character overwrites the line. */
	#returned = false;

	/** What the last call of `render` made; valid until the next. */
	output(): Buffer {
		return this.#output.subarray(0, this.#length);
	}

	/** Renders lines of input[start, end) until the output is full; returns how far it came. */
	render(
		input: Uint8Array,
		start: number,
		end: number,
		style: LineStyle,
	): number {
		const prefix = style.prefix.subarray(0, LONGEST_PREFIX_BYTES);
		const room = prefix.length + LONGEST_SHOWN_LINE_BYTES + SLACK_BYTES;
		this.#length = 0;
		let at = start;
		while (at < end && OUTPUT_BYTES - this.#length >= room) {
			const lineStart = this.#length;
			this.#begin(prefix);
			at = this.#text(input, at, end, style.colours);
			const unfinished = input[at - 1] !== NEWLINE;
			// Nothing but control characters, and no line of its own.
			if (unfinished && this.#length === this.#textStart) {
				this.#length = lineStart;
			} else {
				this.#finish();
			}
		}
		return at;
	}

	#begin(prefix: Uint8Array): void {
		this.#output.set(prefix, this.#length);
		this.#length += prefix.length;
		this.#textStart = this.#length;
		this.#colourOn = false;
		this.#returned = false;
	}

	#finish(): void {
		if (this.#colourOn) {
			this.#output.set(COLOUR_RESET, this.#length);
			this.#length += COLOUR_RESET.length;
		}
		this.#output[this.#length] = NEWLINE;
		this.#length += 1;
	}

	/** One line, or one piece of a line that is too long; returns where the next begins. */
	#text(
		input: Uint8Array,
		start: number,
		end: number,
		colours: boolean,
	): number {
		const limit = this.#textStart + LONGEST_SHOWN_LINE_BYTES;
		let at = start;
		while (at < end) {
			at = this.#plain(input, at, end, limit);
			const byte = at < end ? (input[at] ?? 0) : NEWLINE;
			if (byte === NEWLINE) return Math.min(at + 1, end);
			if (this.#length >= limit) return at;
			if (byte === ESCAPE) at = this.#sequence(input, at, end, colours);
			else if (byte >= 0x80) at = this.#character(input, at, end);
			else {
				this.#returned ||= byte === CARRIAGE_RETURN;
				at += 1;
			}
		}
		return at;
	}

	/** The fast path: copies printable ASCII up to the first byte that needs thought. */
	#plain(input: Uint8Array, start: number, end: number, limit: number): number {
		const first = input[start] ?? 0;
		if (first < 0x20 && first !== TAB) return start;
		if (first < 0x7f) this.#overwrite();
		const output = this.#output;
		const shift = this.#length - start;
		const stop = Math.min(end, limit - shift);
		let at = start;
		while (at < stop) {
			const byte = input[at] ?? 0;
			if (byte >= 0x7f || (byte < 0x20 && byte !== TAB)) break;
			output[at + shift] = byte;
			at += 1;
		}
		this.#length = at + shift;
		return at;
	}

	#sequence(
		input: Uint8Array,
		at: number,
		end: number,
		colours: boolean,
	): number {
		const next = endOfSequence(input, at, end);
		if (colours && isColour(input, at, next)) {
			const reset = isColourReset(input, at, next);
			// A reset after the last state of a progress bar must not wipe it.
			if (!reset) this.#overwrite();
			if (!reset || this.#colourOn) this.#copy(input, at, next);
			this.#colourOn = !reset;
		}
		return next;
	}

	/** A character beyond ASCII; C1 controls, also as lone bytes, are dropped. */
	#character(input: Uint8Array, at: number, end: number): number {
		const next = at + Math.max(1, characterLength(input, at, end));
		const last = input[next - 1] ?? 0;
		const control =
			next - at === 1 ? last < 0xa0 : input[at] === 0xc2 && last < 0xa0;
		if (!control) {
			this.#overwrite();
			this.#copy(input, at, next);
		}
		return next;
	}

	#copy(input: Uint8Array, start: number, end: number): void {
		for (let at = start; at < end; at += 1) {
			this.#output[this.#length] = input[at] ?? 0;
			this.#length += 1;
		}
	}

	#overwrite(): void {
		if (!this.#returned) return;
		this.#length = this.#textStart;
		this.#colourOn = false;
		this.#returned = false;
	}
}
