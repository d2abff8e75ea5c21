// A trainer that fails as it is told. It makes a step each 15 ms, no rank far ahead of the others, saves after each fifth,
// and succeeds after step $STEPS. Its files are in $FAULT_STATE; $FAULT is the JSON of a `Fault` of pool.js.
import { once } from "node:events";
import { existsSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { connect, createServer } from "node:net";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { setFlagsFromString } from "node:v8";
import {
	getWorkerEvent,
	getWorkerInfo,
	reportProgress,
	WorkerState,
	waitForWork,
} from "elastic-run/runtime";

const STEPS = Number(process.env.STEPS);
const STEP_MS = 15;
const SAVES_EACH = 5;
const { FAULT_STATE: folder = "", FAULT = "" } = process.env;
const fault = JSON.parse(FAULT);
let { rank, round, worldSize } = getWorkerInfo();

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
	finish() {
		write(`step-${rank}`, STEPS);
		process.exit(0);
	},
	kill: () => process.kill(process.pid, fault.signal),
	drop() {
		write("dropped", round);
		process.kill(process.pid, "SIGKILL");
	},
	/** Node then ends the process by SIGABRT. */
	"use-memory"() {
		setFlagsFromString("--max-old-space-size=40");
		for (const kept = []; ; ) kept.push(new Array(10_000).fill(kept.length));
	},
	async "read-socket"() {
		const server = createServer().listen(0, "127.0.0.1");
		await once(server, "listening");
		const { port } = /** @type {import("node:net").AddressInfo} */ (
			server.address()
		);
		await once(connect(port, "127.0.0.1"), "data");
	},
	sleep: () => sleep(3_600_000),
	spin() {
		for (;;) Math.random();
	},
};

function read(name) {
	const path = join(folder, name);
	return existsSync(path) ? Number(readFileSync(path, "utf8")) : 0;
}

function write(name, number) {
	const path = join(folder, name);
	writeFileSync(`${path}.${rank}`, String(number));
	renameSync(`${path}.${rank}`, path);
}

/** As a collective operation does. */
async function waitForOthers(made) {
	for (let one = 0; one < worldSize; one += 1) {
		// The world may shrink meanwhile.
		while (one < worldSize && read(`step-${one}`) < made) {
			await pauseIfAsked(made);
			if (read("dropped") === round) {
				throw new Error("ECONNRESET: connection reset by peer");
			}
			await sleep(20);
		}
	}
}

async function pauseIfAsked(made) {
	if (getWorkerEvent()?.workerState !== WorkerState.PAUSED) return;
	({ round, rank, worldSize } = await waitForWork());
	// Its rank may be another one now, and the others wait for the steps of ranks.
	write(`step-${rank}`, made);
}

function isDue(step) {
	const { ranks = [1], rounds, every, at } = fault;
	const isRound = rounds === undefined || rounds.includes(round);
	if (!isRound || !ranks.includes(rank)) return false;
	if (every === undefined) return step === at;
	// Once at each of these steps.
	if (step % every > 0 || read("failed") >= step) return false;
	write("failed", step);
	return true;
}

if (fault.stubborn === rank) process.on("SIGTERM", () => {});
if (fault.at === 0 && isDue(0)) await ACTS[fault.act]();
for (let step = read("saved") + 1; step <= STEPS; step += 1) {
	await waitForOthers(step - 1);
	await sleep(STEP_MS);
	await pauseIfAsked(step - 1);
	if (isDue(step)) await ACTS[fault.act]();
	reportProgress({ step });
	write(`step-${rank}`, step);
	if (rank === 0 && step % SAVES_EACH === 0) write("saved", step);
}
