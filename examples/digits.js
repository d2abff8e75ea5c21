// Ten thousand handwritten digits, 28 × 28 pixels each, from `digits.gz`.
// The order is fixed, so that every worker and every restart sees the same data.
import { readFileSync } from "node:fs";
import { gunzipSync } from "node:zlib";

export const PIXELS = 28 * 28;
export const CLASSES = 10;

/** A digit in the file: one byte that names it, and one byte a pixel. */
const EXAMPLE_BYTES = 1 + PIXELS;
const DARKEST = 255;

/** Each fifth example of a digit is kept for the test: { training, test }, each { count, pixels, labels }. */
export function loadDigits() {
	const bytes = gunzipSync(readFileSync(new URL("digits.gz", import.meta.url)));
	const examples = { training: [], test: [] };
	const seen = new Array(CLASSES).fill(0);
	for (let from = 0; from < bytes.length; from += EXAMPLE_BYTES) {
		const example = bytes.subarray(from, from + EXAMPLE_BYTES);
		const isKept = seen[example[0]] % 5 === 4;
		seen[example[0]] += 1;
		examples[isKept ? "test" : "training"].push(example);
	}
	return { training: pack(examples.training), test: pack(examples.test) };
}

function pack(examples) {
	const pixels = new Float32Array(examples.length * PIXELS);
	for (const [index, example] of examples.entries()) {
		for (let pixel = 0; pixel < PIXELS; pixel += 1) {
			pixels[index * PIXELS + pixel] = example[1 + pixel] / DARKEST;
		}
	}
	const labels = Uint8Array.from(examples, ([label]) => label);
	return { count: examples.length, pixels, labels };
}
