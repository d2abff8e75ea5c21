// What is trained, apart from how its workers live: the state, and one step of it
// after another. Each step goes over one batch of examples, divided among the
// workers; their gradients are added up, so that the result is that of one
// process, whatever the number of workers (up to the rounding of sums).
import { loadDigits } from "./digits.js";
import {
	accuracy,
	addGradient,
	initialWeights,
	WEIGHTS,
} from "./perceptron.js";
import { generatorFrom, shuffled } from "./random.js";

const LEARNING_RATE = 0.1;
const MOMENTUM = 0.9;
const SEED = 1;

/** All that is needed to go on: a checkpoint without one of these would train something else. */
export function firstState() {
	const generator = generatorFrom(SEED);
	const weights = initialWeights(() => generator.next());
	return {
		step: 0,
		epoch: 0,
		/** As it was when this epoch's examples were put in order. */
		generator: generator.state,
		/** How many examples of this epoch are done. */
		dataPosition: 0,
		parameters: { weights },
		optimizer: { velocity: new Float64Array(WEIGHTS) },
	};
}

export class Training {
	#digits = loadDigits();
	/** The gradient, and the loss behind it: both are added up in one go. */
	#sums = new Float64Array(WEIGHTS + 1);
	#batchSize;
	#order;
	/** The generator's state when this epoch's examples had been put in order. */
	#afterShuffling;

	constructor(state, batchSize) {
		this.#batchSize = batchSize;
		this.goOnFrom(state);
	}

	/** From now on this is what is trained. */
	goOnFrom(state) {
		this.state = state;
		this.#shuffle();
	}

	/** One step, together with the other workers of the group. Returns the loss. */
	async step({ rank, worldSize }, group) {
		const { state } = this;
		const sums = this.#sums.fill(0);
		const batch = this.#order.subarray(
			state.dataPosition,
			state.dataPosition + this.#batchSize,
		);
		for (const example of shareOf(batch, rank, worldSize)) {
			sums[WEIGHTS] += addGradient(
				state.parameters.weights,
				this.#digits.training,
				example,
				sums,
			);
		}
		await group.sum(sums);

		// From here on nothing waits until the step is complete, so that no
		// signal can come between: wherever training stops, the state is whole.
		const { weights } = state.parameters;
		const { velocity } = state.optimizer;
		for (let i = 0; i < WEIGHTS; i += 1) {
			velocity[i] = MOMENTUM * velocity[i] + sums[i] / batch.length;
			weights[i] -= LEARNING_RATE * velocity[i];
		}
		state.step += 1;
		state.dataPosition += batch.length;
		if (state.dataPosition + this.#batchSize > this.#order.length) {
			state.epoch += 1;
			state.dataPosition = 0;
			state.generator = this.#afterShuffling;
			this.#shuffle();
		}
		return sums[WEIGHTS] / batch.length;
	}

	/** The share of unknown digits that are read right. */
	accuracy() {
		return accuracy(this.state.parameters.weights, this.#digits.test);
	}

	#shuffle() {
		const generator = generatorFrom(this.state.generator);
		this.#order = shuffled(this.#digits.training.starts.length, generator);
		this.#afterShuffling = generator.state;
	}
}

/** One worker's part of a batch; all parts together are the batch. */
function shareOf(batch, rank, worldSize) {
	const from = Math.floor((batch.length * rank) / worldSize);
	const to = Math.floor((batch.length * (rank + 1)) / worldSize);
	return batch.subarray(from, to);
}

/** A whole number of the command line, from 1 up. */
export function wholeNumber(flags, name) {
	const value = Number(flags[name]);
	if (Number.isSafeInteger(value) && value >= 1) return value;
	throw new Error(`--${name} ${flags[name]}: give a whole number from 1 up`);
}
