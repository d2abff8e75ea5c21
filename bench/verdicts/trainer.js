// A trainer that fails as it is told. It makes a step each 15 ms, no rank ahead of the others, keeps the step of each rank
// in $FAULT_STATE, and succeeds after step 40. $FAULT is the JSON of a `Fault` of pool.js.
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import {
	getWorkerEvent,
	getWorkerInfo,
	reportProgress,
	WorkerState,
	waitForWork,
} from "../../dist/src/runtime/runtime.js";

const STEPS = 40;
const STEP_MS = 15;
const folder = process.env.FAULT_STATE;
const fault = JSON.parse(process.env.FAULT);
let { rank, round, worldSize } = getWorkerInfo();
const file = (one) => join(folder, `step-${one}`);
const stepOf = (one) =>
	existsSync(file(one)) ? Number(readFileSync(file(one), "utf8")) : 0;
const saved = stepOf(rank);

/** As a collective operation does. */
async function waitForOthers(step) {
	for (let one = 0; one < worldSize; one += 1) {
		while (stepOf(one) < step) {
			await pauseIfAsked();
			await sleep(2);
		}
	}
}

async function pauseIfAsked() {
	if (getWorkerEvent()?.workerState !== WorkerState.PAUSED) return;
	({ round, rank, worldSize } = await waitForWork());
}

const ACTS = {
	throw() {
		throw new RangeError(`bad value ${Math.random()} in sample ${round}`);
	},
	"throw-other"() {
		throw new Error(`lost connection to ${"abcdefgh"[round % 8]}`);
	},
	"throw-full"() {
		const message = "ENOSPC: no space left on device, write";
		throw Object.assign(new Error(message), { code: "ENOSPC" });
	},
	exit: () => process.exit(fault.code),
	kill: () => process.kill(process.pid, fault.signal),
	sleep: () => sleep(3_600_000),
	spin() {
		for (;;) Math.random();
	},
};

function isDue(step) {
	const { ranks = [1], rounds, every } = fault;
	const isRound = rounds === undefined || rounds.includes(round);
	const isStep = every === undefined ? step === fault.at : step % every === 0;
	// A fault that comes each so many steps comes once at each of them.
	const isNew = every === undefined || step > saved + 1;
	return ranks.includes(rank) && isRound && isStep && isNew;
}

if (fault.stubborn === rank) process.on("SIGTERM", () => {});
if (fault.at === 0 && isDue(0)) await ACTS[fault.act]();
for (let step = saved + 1; step <= STEPS; step += 1) {
	await waitForOthers(step - 1);
	await sleep(STEP_MS);
	await pauseIfAsked();
	reportProgress({ step });
	if (isDue(step)) await ACTS[fault.act]();
	writeFileSync(`${file(rank)}.new`, String(step));
	renameSync(`${file(rank)}.new`, file(rank));
}
