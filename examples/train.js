// Trains a small network on handwritten digits with any number of workers, and
// survives the death of any of them at any moment:
//
//   elastic-run --nproc-per-node 4 examples/train.js --checkpoint-dir checkpoints
//
// The same command starts and resumes, and the result is the same to the last
// bit whoever was killed meanwhile.
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openCheckpoints } from "elastic-run/checkpoint";
import { getWorkerInfo, reportProgress } from "elastic-run/runtime";
import { joinGroup, WorkerGoneError } from "./all-reduce.js";
import { firstState, Training, wholeNumber } from "./training.js";

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
const lastStep = wholeNumber(flags, "steps");

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
	maxSteps: wholeNumber(flags, "checkpoint-every"),
});
const checkpoint = checkpoints.loadLatest();
const state = checkpoint?.state ?? firstState();
say(
	checkpoint === undefined
		? "no checkpoint yet: starting at step 0"
		: `resumed at step ${state.step}`,
);
let savedStep = checkpoint?.step;
const training = new Training(state, wholeNumber(flags, "batch"));

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
	const share = training.accuracy().toFixed(4);
	say(`final accuracy ${share} after ${state.step} steps`);
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

	while (state.step < lastStep) {
		// Lets the signal in: what never waits never hears of it.
		await nextTurn();
		stop.signal.throwIfAborted();
		const loss = await training.step(worker, group);
		if (state.step % REPORT_EVERY_STEPS === 0) {
			reportProgress({ step: state.step, loss });
			say(`step ${state.step}: loss ${loss.toFixed(4)}`);
		}
		if (rank === 0 && checkpoints.shouldSave(state.step)) save("due");
	}
	group.leave();
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
