import { endOfSequence, isColour, isColourReset } from "./control-sequences.js";
import {
	CARRIAGE_RETURN,
	ESCAPE,
	LONGEST_SHOWN_LINE_BYTES,
	NEWLINE,
	TAB,
} from "./line-limits.js";
import { characterLength, isInvisibleControl } from "./utf8.js";

/** Space beyond the longest line: its last colour, the reset and the newline. */
const SLACK_BYTES = 128;
const OUTPUT_BYTES = 512 * 1024;
/** A longer prefix is cut, so that a line always fits into the output. */
const LONGEST_PREFIX_BYTES = 64 * 1024;
const COLOUR_RESET = Buffer.from("\x1b[0m");

export interface LineStyle {
	/** Precedes every line unchanged. */
	readonly prefix: Uint8Array;
	/** Whether the lines keep their colours. */
	readonly colours: boolean;
}

/**
 * Turns raw output into lines for people, byte by byte and without a string per line. It puts the prefix before every
 * line, and removes control characters (text direction included) and sequences other than colours. Of a line overwritten
 * by carriage returns (a progress bar) it keeps the last state. It adds a newline after the last line, and a reset where
 * a line leaves a colour on.
 *
 * It reuses one buffer: take `output()` before the next call of `render`.
 */
export class LineRenderer {
	private readonly buffer = Buffer.allocUnsafe(OUTPUT_BYTES);
	private readonly words = viewOf(this.buffer);
	private length = 0;
	/** Where the current line's text starts, after its prefix. */
	private textStart = 0;
	private colourOn = false;
	/** The input of this call of `render`. */
	private view = this.words;
	/** After a carriage return: the next character overwrites the line. */
	private returned = false;

	/** The result of the last `render`; valid until the next one. */
	output(): Buffer {
		return this.buffer.subarray(0, this.length);
	}

	/** Renders lines of input[start, end) until the output is full; returns how far it got. */
	render(
		input: Uint8Array,
		start: number,
		end: number,
		style: LineStyle,
	): number {
		const prefix = style.prefix.subarray(0, LONGEST_PREFIX_BYTES);
		this.view = viewOf(input);
		const room = prefix.length + LONGEST_SHOWN_LINE_BYTES + SLACK_BYTES;
		this.length = 0;
		let at = start;
		while (at < end && OUTPUT_BYTES - this.length >= room) {
			const lineStart = this.length;
			this.begin(prefix);
			at = this.text(input, at, end, style.colours);
			const unfinished = input[at - 1] !== NEWLINE;
			// Only control characters: this is no line.
			if (unfinished && this.length === this.textStart) {
				this.length = lineStart;
			} else {
				this.finish();
			}
		}
		return at;
	}

	private begin(prefix: Uint8Array): void {
		this.buffer.set(prefix, this.length);
		this.length += prefix.length;
		this.textStart = this.length;
		this.colourOn = false;
		this.returned = false;
	}

	private finish(): void {
		if (this.colourOn) {
			this.buffer.set(COLOUR_RESET, this.length);
			this.length += COLOUR_RESET.length;
		}
		this.buffer[this.length] = NEWLINE;
		this.length += 1;
	}

	/** Renders one line, or one piece of a line that is too long; returns where the next begins. */
	private text(
		input: Uint8Array,
		start: number,
		end: number,
		colours: boolean,
	): number {
		const limit = this.textStart + LONGEST_SHOWN_LINE_BYTES;
		let at = start;
		while (at < end) {
			at = this.plain(input, at, end, limit);
			const byte = at < end ? (input[at] ?? 0) : NEWLINE;
			if (byte === NEWLINE) return Math.min(at + 1, end);
			if (this.length >= limit) return at;
			if (byte === ESCAPE) at = this.sequence(input, at, end, colours);
			else if (byte >= 0x80) at = this.character(input, at, end);
			else {
				this.returned ||= byte === CARRIAGE_RETURN;
				at += 1;
			}
		}
		return at;
	}

	/** The fast path: copies printable ASCII up to the first other byte. */
	private plain(
		input: Uint8Array,
		start: number,
		end: number,
		limit: number,
	): number {
		const first = input[start] ?? 0;
		if (first < 0x20 && first !== TAB) return start;
		if (first < 0x7f) this.overwrite();
		const output = this.buffer;
		const shift = this.length - start;
		const stop = Math.min(end, limit - shift);
		let at = this.printable(start, stop, shift);
		while (at < stop) {
			const byte = input[at] ?? 0;
			if (byte >= 0x7f || (byte < 0x20 && byte !== TAB)) break;
			output[at + shift] = byte;
			at += 1;
		}
		this.length = at + shift;
		return at;
	}

	/** Copies four printable characters at a time; returns where others, or the last few, begin. */
	private printable(start: number, stop: number, shift: number): number {
		const input = this.view;
		const output = this.words;
		let at = start;
		while (at + 4 <= stop) {
			const word = input.getUint32(at);
			// The upper bit of a byte that is less than 0x20 or more than 0x7e is set in one of the three.
			const others = word | (word - 0x20202020) | (word + 0x01010101);
			if ((others & 0x80808080) !== 0) break;
			output.setUint32(at + shift, word);
			at += 4;
		}
		return at;
	}

	private sequence(
		input: Uint8Array,
		at: number,
		end: number,
		colours: boolean,
	): number {
		const next = endOfSequence(input, at, end);
		if (colours && isColour(input, at, next)) {
			const reset = isColourReset(input, at, next);
			// A reset after a progress bar's last state must not erase it.
			if (!reset) this.overwrite();
			if (!reset || this.colourOn) this.copy(input, at, next);
			this.colourOn = !reset;
		}
		return next;
	}

	/** A character beyond ASCII. Invisible controls, also C1 as single bytes, are dropped. */
	private character(input: Uint8Array, at: number, end: number): number {
		const next = at + Math.max(1, characterLength(input, at, end));
		if (!isInvisibleControl(input, at, next)) {
			this.overwrite();
			this.copy(input, at, next);
		}
		return next;
	}

	private copy(input: Uint8Array, start: number, end: number): void {
		for (let at = start; at < end; at += 1) {
			this.buffer[this.length] = input[at] ?? 0;
			this.length += 1;
		}
	}

	private overwrite(): void {
		if (!this.returned) return;
		this.length = this.textStart;
		this.colourOn = false;
		this.returned = false;
	}
}

function viewOf({ buffer, byteOffset, length }: Uint8Array): DataView {
	return new DataView(buffer, byteOffset, length);
}
