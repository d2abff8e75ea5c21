import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openCheckpoints } from "../../src/checkpoint/index.js";
import { example, startWorld } from "../fixtures/checkpoint-examples.js";
import { openSite } from "../helpers/launch.js";
import { endProcess } from "../helpers/processes.js";

const STEPS = 300;
const LIMIT_MS = 120_000;

const argumentsFor = (directory: string) => [
	...["--checkpoint-dir", directory, "--steps", String(STEPS)],
];

function weightsIn(directory: string) {
	const checkpoints = openCheckpoints({ directory });
	return checkpoints.loadLatest({ claim: false })?.state.parameters.weights;
}

it.skipIf(process.platform !== "linux")(
	"P13 train.js under the launcher: two killed workers cost steps and nothing else",
	async () => {
		const site = openSite();
		const runId = `train-${process.pid}`;
		const directory = join(site.path, "disturbed");
		const run = site.launch([
			...["--nproc-per-node", "4", "--run-id", runId],
			...[example("train.js"), ...argumentsFor(directory)],
		]);
		await run.saw("stdout", "step 40: ");
		endProcess(pidOf(runId, 2));
		await run.saw("stdout", "resumed at");
		await run.saw("stdout", "step 100: ");
		endProcess(pidOf(runId, 0));
		const { exitCode, stdout, stderr } = await run.ended;
		expect(exitCode, stderr).toBe(0);
		expect(stdout.match(/resumed at step/g)).toHaveLength(2);

		const alone = join(site.path, "undisturbed");
		for (const worker of await startWorld("train.js", 4, argumentsFor(alone))) {
			expect(await worker.ended, worker.stderr()).toBe(0);
		}
		expect(weightsIn(directory)).toBeDefined();
		expect(weightsIn(directory)).toEqual(weightsIn(alone));
	},
	LIMIT_MS,
);

/** The worker of a run with this rank. */
function pidOf(runId: string, rank: number): number {
	for (const pid of readdirSync("/proc").filter((name) => /^\d+$/.test(name))) {
		const variables = environmentOf(pid);
		const isOurs = variables.includes(`ELASTIC_RUN_RUN_ID=${runId}`);
		if (isOurs && variables.includes(`RANK=${rank}`)) return Number(pid);
	}
	throw new Error(`no worker of rank ${rank}`);
}

function environmentOf(pid: string): string[] {
	try {
		return readFileSync(`/proc/${pid}/environ`, "utf8").split("\0");
	} catch {
		return [];
	}
}
