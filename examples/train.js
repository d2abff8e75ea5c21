// Trains a small network on handwritten digits with any number of workers, and
// survives the death of any of them at any moment:
//
//   elastic-run --nproc-per-node 4 examples/train.js --checkpoint-dir checkpoints
//
// The same command starts and resumes. Each step goes over one batch of
// examples, divided among the workers; their gradients are added up, so that
// the result is that of one process, whatever the number of workers (up to the
// rounding of sums), and the same to the last bit whoever was killed meanwhile.
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openCheckpoints } from "elastic-run/checkpoint";
import { getWorkerInfo, reportProgress } from "elastic-run/runtime";
import { joinGroup, WorkerGoneError } from "./all-reduce.js";
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
const REPORT_EVERY_STEPS = 20;
const EXIT_CODE_OF_SIGTERM = 128 + 15;

const { values: flags } = parseArgs({
	options: {
		steps: { type: "string", default: "400" },
		batch: { type: "string", default: "128" },
		"checkpoint-dir": { type: "string", default: "checkpoints" },
		"checkpoint-every": { type: "string", default: "25" },
	},
});
const lastStep = wholeNumber("steps");
const batchSize = wholeNumber("batch");

// Who am I? The launcher says so, and gives the round a port of its own.
const worker = getWorkerInfo();
const { rank, worldSize } = worker;
const say = (text) => {
	if (rank === 0) console.log(text);
};

// SIGTERM: somebody wants this machine, or another worker has failed. It only
// ends what is being waited for; what is saved then stands below.
const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("SIGTERM")));

// Load the latest checkpoint, always: a first start simply finds none.
const checkpoints = openCheckpoints({
	directory: flags["checkpoint-dir"],
	maxSteps: wholeNumber("checkpoint-every"),
});
const checkpoint = checkpoints.loadLatest();
const state = checkpoint?.state ?? firstState();
say(
	checkpoint === undefined
		? "no checkpoint yet: starting at step 0"
		: `resumed at step ${state.step}`,
);
let savedStep = checkpoint?.step;
const digits = loadDigits();

try {
	await train();
} catch (error) {
	// The last complete step is worth keeping; it is not what all depends on.
	if (stop.signal.aborted) {
		save("stopped by SIGTERM");
		process.exit(EXIT_CODE_OF_SIGTERM);
	}
	if (!(error instanceof WorkerGoneError)) throw error;
	console.error(`rank ${rank}: ${error.message}, so this round is over`);
	save("another worker is gone");
	process.exit(1);
}
save("finished");
if (rank === 0) {
	const share = accuracy(state.parameters.weights, digits.test);
	say(`final accuracy ${share.toFixed(4)} after ${state.step} steps`);
}

async function train() {
	const group = await joinGroup({
		rank,
		worldSize,
		address: worker.masterAddr,
		port: worker.masterPort,
		token: [Number(process.env.ELASTIC_RUN_INSTANCE ?? 0), worker.round],
		signal: stop.signal,
	});
	await requireSameStep(group);

	// The gradient, and the loss behind it: both are added up in one go.
	const sums = new Float64Array(WEIGHTS + 1);
	let generator = generatorFrom(state.generator);
	let order = shuffled(digits.training.count, generator);

	while (state.step < lastStep) {
		// Lets the signal in: what never waits never hears of it.
		await nextTurn();
		stop.signal.throwIfAborted();

		const batch = order.subarray(
			state.dataPosition,
			state.dataPosition + batchSize,
		);
		sums.fill(0);
		for (const example of shareOf(batch)) {
			sums[WEIGHTS] += addGradient(
				state.parameters.weights,
				digits.training,
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
		if (state.dataPosition + batchSize > order.length) {
			state.epoch += 1;
			state.dataPosition = 0;
			state.generator = generator.state;
			generator = generatorFrom(state.generator);
			order = shuffled(digits.training.count, generator);
		}

		if (state.step % REPORT_EVERY_STEPS === 0) {
			const loss = sums[WEIGHTS] / batch.length;
			reportProgress({ step: state.step, loss });
			say(`step ${state.step}: loss ${loss.toFixed(4)}`);
		}
		if (rank === 0 && checkpoints.shouldSave(state.step)) save("due");
	}
	group.leave();
}

/** All that is needed to go on: a checkpoint without one of these would train something else. */
function firstState() {
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

/** This worker's part of a batch; all parts together are the batch. */
function shareOf(batch) {
	const from = Math.floor((batch.length * rank) / worldSize);
	const to = Math.floor((batch.length * (rank + 1)) / worldSize);
	return batch.subarray(from, to);
}

/** All workers have the same state, so that one of them saves it for all. */
function save(why) {
	if (rank !== 0 || savedStep === state.step) return;
	const { durationMs } = checkpoints.save(state);
	savedStep = state.step;
	say(
		`checkpoint saved at step ${savedStep} in ${durationMs.toFixed(0)} ms (${why})`,
	);
}

/** Workers that do not see the same checkpoints must not train together. */
async function requireSameStep(group) {
	const steps = Float64Array.of(state.step);
	await group.sum(steps);
	if (steps[0] === state.step * worldSize) return;
	throw new Error(
		`The workers resumed at different steps (rank ${rank}: ${state.step}): is ${flags["checkpoint-dir"]} the same directory on every node?`,
	);
}

function wholeNumber(name) {
	const value = Number(flags[name]);
	if (Number.isSafeInteger(value) && value >= 1) return value;
	throw new Error(`--${name} ${flags[name]}: give a whole number from 1 up`);
}
