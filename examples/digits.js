// Ten thousand handwritten digits, 28 × 28 pixels each, from `digits.gz`.
// The order is fixed, so that every worker and every restart sees the same data.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export const PIXELS = 28 * 28;
export const CLASSES = 10;

/** A digit in the file: one byte that names it, and one byte a pixel. */
const EXAMPLE_BYTES = 1 + PIXELS;
const DARKEST = 255;
/** What each byte of a pixel means. */
export const SHADES = Float32Array.from(
	{ length: 256 },
	(_, byte) => byte / DARKEST,
);
/** It is unpacked in one piece. */
const UNPACKED_BYTES = 10_000 * EXAMPLE_BYTES;

/**
 * Each fifth example of a digit is kept for the test: { training, test }, each
 * { bytes, starts }: where each example begins in all the bytes of the file. Its
 * first byte names the digit; its pixels follow. Nothing is copied: a restarted
 * worker waits for its data.
 */
export function loadDigits() {
	const packed = readFileSync(new URL("digits.gz", import.meta.url));
	const bytes = gunzipSync(packed, { chunkSize: UNPACKED_BYTES });
	/** @type {Record<"training" | "test", number[]>} */
	const starts = { training: [], test: [] };
	const seen = new Array(CLASSES).fill(0);
	for (let from = 0; from < bytes.length; from += EXAMPLE_BYTES) {
		const label = bytes[from];
		starts[seen[label] % 5 === 4 ? "test" : "training"].push(from);
		seen[label] += 1;
	}
	return {
		training: { bytes, starts: starts.training },
		test: { bytes, starts: starts.test },
	};
}
