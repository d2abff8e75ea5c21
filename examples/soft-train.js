// The trainer of train.js for soft restarts: its workers keep their process, and
// what they have in memory, while others go and come.
//
//   elastic-run --restart-policy soft --nnodes 1:4 --nproc-per-node 2 examples/soft-train.js
//
// When the world changes, what is under way ends: by the loss of a connection, or
// by PAUSE. The survivors wait for work, meet in a new group with their new ranks,
// and go on from the furthest of them. Whoever is new, or comes back, gets the
// state from a survivor. Checkpoints are read only by a worker that starts; they
// are for the case that none is left.
import { setImmediate as nextTurn } from "node:timers/promises";
import { parseArgs } from "node:util";
import { openCheckpoints } from "elastic-run/checkpoint";
import {
	getWorkerEvent,
	onPreemption,
	onWorkerEvent,
	reportProgress,
	waitForWork,
} from "elastic-run/runtime";
import { joinGroup } from "./all-reduce.js";
import { agreeOnState } from "./share-state.js";
import { firstState, Training, wholeNumber } from "./training.js";

const REPORT_EVERY_STEPS = 20;
const EXIT_CODE_OF_SIGTERM = 128 + 15;

const { values: flags } = parseArgs({
	options: {
		steps: { type: "string", default: "400" },
		batch: { type: "string", default: "128" },
		attempts: { type: "string", default: "100" },
		"checkpoint-dir": { type: "string", default: "checkpoints" },
		"checkpoint-every": { type: "string", default: "25" },
	},
});
const lastStep = wholeNumber(flags, "steps");
const maximumAttempts = wholeNumber(flags, "attempts");

const { instance, workerInfo } = getWorkerEvent();
let worker = workerInfo;
const say = (text) => console.log(`pid ${process.pid} ${text}`);

const stop = new AbortController();
process.once("SIGTERM", () => stop.abort(new Error("SIGTERM")));

// A PAUSE ends what its round waits for; it may come when the next one has begun.
let pause = new AbortController();
onWorkerEvent(({ kind, round, reason }) => {
	if (kind !== "PAUSE") return;
	say(`PAUSE in round ${round}: ${reason}`);
	if (round >= worker.round) pause.abort(new Error(reason));
});

// What its machine would lose the survivors have as well: it is ready to go.
onPreemption(({ source, reason }) => say(`notice (${source}): ${reason}`));

let checkpoints = checkpointsOf(worker.round);
const training = new Training(
	checkpoints.loadLatest()?.state ?? firstState(),
	wholeNumber(flags, "batch"),
);
// What came from a checkpoint gives way to what a survivor has.
let isSurvivor = false;

for (let attempt = 1; ; attempt += 1) {
	try {
		await trainInRound();
		break;
	} catch (error) {
		leaveIfStopped();
		if (attempt === maximumAttempts) throw error;
		say(
			`round ${worker.round} is over for rank ${worker.rank} at step ${training.state.step}: ${error.message}`,
		);
		await nextRound();
	}
}
if (worker.rank === 0) {
	save("finished");
	const share = training.accuracy().toFixed(4);
	say(`final accuracy ${share} after ${training.state.step} steps`);
}
process.exit(0);

async function trainInRound() {
	const over = AbortSignal.any([stop.signal, pause.signal]);
	const group = await joinGroup({
		rank: worker.rank,
		worldSize: worker.worldSize,
		address: worker.masterAddr,
		port: worker.masterPort,
		token: [instance, worker.round],
		signal: over,
	});
	await agreeOnState(training, isSurvivor, worker, group);
	isSurvivor = true;
	const { round, rank, worldSize } = worker;
	const firstStep = training.state.step;
	say(`round ${round}: rank ${rank} of ${worldSize} at step ${firstStep}`);

	while (training.state.step < lastStep) {
		// Lets signals and events in: what never waits never hears of them.
		await nextTurn();
		over.throwIfAborted();
		const loss = await training.step(worker, group);
		const { step } = training.state;
		if (step % REPORT_EVERY_STEPS === 0 || step === firstStep + 1) {
			reportProgress({ step, loss });
			if (rank === 0) say(`step ${step}: loss ${loss.toFixed(4)}`);
		}
		if (rank === 0 && checkpoints.shouldSave(step)) save("due");
	}
	group.leave();
}

/** The listener may have seen the WORK of the next round already: it is that after this worker's. */
async function nextRound() {
	try {
		const afterRound = worker.round;
		worker = await waitForWork({ afterRound, signal: stop.signal });
	} catch (error) {
		leaveIfStopped();
		throw error;
	}
	pause = new AbortController();
	if (getWorkerEvent().kind === "PAUSE") pause.abort();
	checkpoints = checkpointsOf(worker.round);
}

function leaveIfStopped() {
	if (stop.signal.aborted) process.exit(EXIT_CODE_OF_SIGTERM);
}

/** What is saved names the round, so that one who was left behind overwrites nothing. */
function checkpointsOf(round) {
	return openCheckpoints({
		directory: flags["checkpoint-dir"],
		maxSteps: wholeNumber(flags, "checkpoint-every"),
		token: { instance, round },
	});
}

function save(why) {
	const { durationMs } = checkpoints.save(training.state);
	say(
		`checkpoint saved at step ${training.state.step} in ${durationMs.toFixed(0)} ms (${why})`,
	);
}
