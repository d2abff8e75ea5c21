// A trainer of one worker on each node that writes down what it spends its time on, whatever happens to it: it loads,
// makes steps in step with the others, saves after each tenth, and lives through PAUSE. It succeeds some steps after
// MINUTES. Usage: chaos-trainer.js DIRECTORY MINUTES; what it spent goes to DIRECTORY/spent.
import {
	appendFileSync,
	existsSync,
	readdirSync,
	readFileSync,
	renameSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	getWorkerEvent,
	getWorkerInfo,
	reportProgress,
	WorkerState,
	waitForWork,
} from "elastic-run/runtime";

const STEP_MS = 60;
const LOAD_MS = 250;
const SAVE_MS = 150;
const SAVES_EACH = 10;
const STEPS_TO_THE_END = 5;
const [directory, text] = process.argv.slice(2);
const minutes = Number(text);
const nodeId = process.env.ELASTIC_RUN_NODE_ID;
let place = getWorkerInfo();
let since;

class Paused extends Error {}

write(`pid-${nodeId}`, process.pid);
write("began", read("began") || Date.now());
for (let isOver = false; !isOver; ) {
	try {
		await train();
		isOver = true;
	} catch (error) {
		if (!(error instanceof Paused)) throw error;
		place = await waitForWork();
	}
}

async function train() {
	const { round } = place;
	const furthest = furthestBefore(round);
	const saved = read("saved");
	since = now();
	reportProgress({ busy: "load", forSeconds: 60 });
	await sleep(LOAD_MS);
	reportProgress({ busy: "nothing", forSeconds: 0 });
	spent("loading", saved);
	for (let step = saved + 1; ; step += 1) {
		await makeStep(step);
		const isFirst = step === saved + 1;
		spent(
			isFirst ? "startup" : step <= furthest ? "repeated" : "productive",
			step,
		);
		if (step % SAVES_EACH === 0) await save(step);
		const last = read("last");
		if (last > 0 && step >= last) return;
		if (last === 0 && place.rank === 0 && isLate()) {
			write("last", step + STEPS_TO_THE_END);
		}
	}
}

async function makeStep(step) {
	await sleep(STEP_MS);
	write(`made-${place.round}-${place.rank}`, step);
	for (let other = 0; other < place.worldSize; other += 1) {
		while (read(`made-${place.round}-${other}`) < step) {
			leaveIfAsked();
			await sleep(5);
		}
	}
	leaveIfAsked();
	reportProgress({ step });
	write(`told-${place.round}-${place.rank}`, step);
}

/** From its announcement to the report that ends it: writing either file takes milliseconds, too. */
async function save(step) {
	since = now();
	reportProgress({ busy: "checkpoint", forSeconds: 60 });
	await sleep(SAVE_MS);
	if (place.rank === 0) write("saved", step);
	const at = now();
	reportProgress({ step });
	spent("saving", step, at);
}

function leaveIfAsked() {
	if (getWorkerEvent()?.workerState === WorkerState.PAUSED) throw new Paused();
}

function isLate() {
	return Date.now() - read("began") > minutes * 60_000;
}

/** The furthest step that any rank has reported in an earlier round. */
function furthestBefore(round) {
	const steps = readdirSync(directory)
		.filter((name) => /^told-\d+-\d+$/.test(name))
		.filter((name) => Number(name.split("-")[1]) < round)
		.map(read);
	return Math.max(0, ...steps);
}

function spent(kind, step, at = now()) {
	const line = {
		kind,
		ms: at - since,
		at,
		node: nodeId,
		round: place.round,
		step,
	};
	appendFileSync(join(directory, "spent"), `${JSON.stringify(line)}\n`);
	since = at;
}

function now() {
	return performance.timeOrigin + performance.now();
}

function read(name) {
	const path = join(directory, name);
	return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
}

function write(name, number) {
	const path = join(directory, name);
	writeFileSync(`${path}.${process.pid}`, String(number));
	renameSync(`${path}.${process.pid}`, path);
}
