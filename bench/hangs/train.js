// As train.py, for Node: it reports each step, and then waits until the others have made it as well.
// Usage: train.js DIRECTORY PLAN
import { existsSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getWorkerInfo, reportProgress } from "elastic-run/runtime";

const LAST_STEP = 10;
const STEP_MS = 30;
const [directory, text] = process.argv.slice(2);
const { rank, round, worldSize } = getWorkerInfo();
const item = readdirSync(directory).filter((name) =>
	name.startsWith("hang-"),
).length;
const fault = JSON.parse(text)[item];

const WAYS = {
	async blocked() {
		Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0); // hang: blocked
	},
	async promise() {
		setInterval(() => {}, 1 << 30);
		await new Promise(() => {});
	},
};

for (let step = 0; step < LAST_STEP; step += 1) {
	await sleep(STEP_MS);
	if (rank === fault?.rank && step === fault.step) {
		writeFileSync(join(directory, `hang-${item}`), String(round));
		await WAYS[fault.kind]();
	}
	reportProgress({ step });
	writeFileSync(join(directory, `${item}.${rank}`), String(Date.now()));
	writeFileSync(marker(rank, step), "");
	for (let other = 0; other < worldSize; other += 1) {
		while (!existsSync(marker(other, step))) await sleep(5);
	}
}

function marker(ofRank, step) {
	return join(directory, `made-${round}-${ofRank}-${step}`);
}
