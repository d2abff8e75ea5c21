// A healthy trainer that looks like a hanging one: its steps take up to 0.7 of the limit; it saves and evaluates for
// 1.5 times the limit, announced, and evaluates for twice the limit unannounced, but computing. All ranks wait for each
// other after each step. It succeeds after HOURS hours, in each of which the limit of ten minutes fits six times.
// Usage: trainer.js DIRECTORY LIMIT_MS HOURS
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { getWorkerInfo, reportProgress } from "elastic-run/runtime";

const LIMITS_PER_HOUR = 6;
const [directory, ...numbers] = process.argv.slice(2);
const [limitMs, hours] = numbers.map(Number);
const { rank, round, worldSize } = getWorkerInfo();
let step = 0;

const usual = (part) => () => sleep(part * limitMs);
const announced = (busy, part) => async () => {
	reportProgress({ busy, forSeconds: (1.2 * part * limitMs) / 1_000 });
	await sleep(part * limitMs);
};
/** One rank computes, and the others wait for it. */
const computing = (part) => () => {
	const until = performance.now() + part * limitMs;
	while (rank === step % worldSize && performance.now() < until) Math.random();
};
/** What an hour has, and how many limits each takes. */
const HOUR = [
	...[usual(0.1), usual(0.7), usual(0.1)],
	...[announced("checkpoint", 1.5), usual(0.1), announced("evaluation", 1.5)],
	...[usual(0.1), computing(2), usual(0.1)],
];

const startedAt = performance.now();
for (let hour = 1; hour <= hours; hour += 1) {
	const endsAt = startedAt + hour * LIMITS_PER_HOUR * limitMs;
	for (const work of HOUR) await makeStep(work);
	while (performance.now() < endsAt) await makeStep(usual(0.1));
}

async function makeStep(work) {
	await work();
	step += 1;
	reportProgress({ step });
	writeFileSync(marker(rank), "");
	for (let other = 0; other < worldSize; other += 1) {
		while (!existsSync(marker(other))) await sleep(10);
	}
}

function marker(ofRank) {
	return join(directory, `${round}-${step}-${ofRank}`);
}
