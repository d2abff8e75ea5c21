// A network of one hidden layer, by hand: pixels → 32 rectified units → a
// probability for each digit. All its weights are one array, so that gradients
// are added up over the workers, and saved, in one piece.
import { CLASSES, PIXELS, SHADES } from "./digits.js";

const HIDDEN = 32;
const HIDDEN_BIASES = PIXELS * HIDDEN;
const OUTPUT = HIDDEN_BIASES + HIDDEN;
const OUTPUT_BIASES = OUTPUT + HIDDEN * CLASSES;

/** Length of the array of weights. */
export const WEIGHTS = OUTPUT_BIASES + CLASSES;

/** Small random weights; `random` draws from 0 (inclusive) to 1. */
export function initialWeights(random) {
	const weights = new Float64Array(WEIGHTS);
	for (let i = 0; i < WEIGHTS; i += 1) weights[i] = (random() - 0.5) * 0.1;
	return weights;
}

/** Adds the gradient of one example's loss to `gradient`, and returns the loss. */
export function addGradient(weights, digits, example, gradient) {
	const { bytes, starts } = digits;
	const label = bytes[starts[example]];
	const first = starts[example] + 1;
	const hidden = hiddenUnits(weights, bytes, first);
	const errors = probabilities(weights, hidden);
	const loss = -Math.log(errors[label]);
	errors[label] -= 1;

	const hiddenErrors = new Float64Array(HIDDEN);
	for (let unit = 0; unit < HIDDEN; unit += 1) {
		if (hidden[unit] === 0) continue;
		const row = OUTPUT + unit * CLASSES;
		for (let digit = 0; digit < CLASSES; digit += 1) {
			hiddenErrors[unit] += errors[digit] * weights[row + digit];
			gradient[row + digit] += errors[digit] * hidden[unit];
		}
		gradient[HIDDEN_BIASES + unit] += hiddenErrors[unit];
	}
	for (let digit = 0; digit < CLASSES; digit += 1) {
		gradient[OUTPUT_BIASES + digit] += errors[digit];
	}
	for (let pixel = 0; pixel < PIXELS; pixel += 1) {
		const ink = SHADES[bytes[first + pixel]];
		if (ink === 0) continue;
		const row = pixel * HIDDEN;
		for (let unit = 0; unit < HIDDEN; unit += 1) {
			gradient[row + unit] += ink * hiddenErrors[unit];
		}
	}
	return loss;
}

/** The share of examples that the network reads right. */
export function accuracy(weights, { bytes, starts }) {
	let right = 0;
	for (const start of starts) {
		const hidden = hiddenUnits(weights, bytes, start + 1);
		const guess = probabilities(weights, hidden);
		if (guess.indexOf(Math.max(...guess)) === bytes[start]) right += 1;
	}
	return right / starts.length;
}

/** The pixels of an example follow each other from `first` on. */
function hiddenUnits(weights, bytes, first) {
	const hidden = weights.slice(HIDDEN_BIASES, OUTPUT);
	for (let pixel = 0; pixel < PIXELS; pixel += 1) {
		const ink = SHADES[bytes[first + pixel]];
		if (ink === 0) continue;
		const row = pixel * HIDDEN;
		for (let unit = 0; unit < HIDDEN; unit += 1) {
			hidden[unit] += ink * weights[row + unit];
		}
	}
	for (let unit = 0; unit < HIDDEN; unit += 1) {
		hidden[unit] = Math.max(0, hidden[unit]);
	}
	return hidden;
}

function probabilities(weights, hidden) {
	const scores = weights.slice(OUTPUT_BIASES);
	for (let unit = 0; unit < HIDDEN; unit += 1) {
		const row = OUTPUT + unit * CLASSES;
		for (let digit = 0; digit < CLASSES; digit += 1) {
			scores[digit] += hidden[unit] * weights[row + digit];
		}
	}
	const highest = Math.max(...scores);
	const powers = scores.map((score) => Math.exp(score - highest));
	const total = powers.reduce((sum, power) => sum + power);
	return powers.map((power) => power / total);
}
