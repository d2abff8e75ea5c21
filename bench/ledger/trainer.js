// A trainer that writes down what it spends its time on: loads, makes steps, saves after each tenth, fails once after
// step 25, and succeeds after step 40. Usage: trainer.js DIRECTORY, which gets a line of JSON for each thing in "spent".
import {
	appendFileSync,
	existsSync,
	readFileSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getWorkerInfo, reportProgress } from "elastic-run/runtime";

const STEPS = 40;
const FAILS_AFTER = 25;
const [directory] = process.argv.slice(2);
const checkpoint = join(directory, "checkpoint");
const { round } = getWorkerInfo();
const saved = existsSync(checkpoint) ? Number(readFileSync(checkpoint)) : 0;
const furthest = round === 1 ? 0 : FAILS_AFTER;
let since = performance.timeOrigin;

function spent(kind) {
	const now = performance.timeOrigin + performance.now();
	const line = JSON.stringify({ kind, ms: now - since });
	appendFileSync(join(directory, "spent"), `${line}\n`);
	since = now;
}

await sleep(150);
spent("startup");
reportProgress({ busy: "load", forSeconds: 60 });
await sleep(250);
reportProgress({ busy: "nothing", forSeconds: 0 });
spent("loading");
for (let step = saved + 1; step <= STEPS; step += 1) {
	await sleep(60);
	reportProgress({ step });
	const isFirst = step === saved + 1;
	spent(isFirst ? "startup" : step <= furthest ? "repeated" : "productive");
	if (step % 10 === 0) {
		reportProgress({ busy: "checkpoint", forSeconds: 60 });
		await sleep(150);
		writeFileSync(checkpoint, String(step));
		reportProgress({ step });
		spent("saving");
	}
	if (round === 1 && step === FAILS_AFTER) process.exit(3);
}
