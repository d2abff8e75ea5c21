import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished, type TestContext } from "vitest";
import { openCheckpoints } from "../../src/runtime/checkpoint.js";
import {
	example,
	requireBuild,
	startWorld,
} from "../fixtures/checkpoint-examples.js";
import {
	type FixtureProcess,
	startProcess,
} from "../fixtures/checkpoint-process.js";
import {
	endProcess,
	signalProcess,
	temporaryFolder,
	waitFor,
} from "../helpers/processes.js";

const SECONDS = 1_000;

/** More steps than a test waits for: such a run does not end by itself before it is killed. */
const ENDLESS = 1_000_000;

function freshDirectory(): string {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	return join(path, "checkpoints");
}

const argumentsFor = (directory: string, steps: number) => [
	...["--checkpoint-dir", directory],
	...["--steps", String(steps)],
];

/** Waits for all ranks to succeed and returns what rank 0 said. */
async function successOf(world: readonly FixtureProcess[]): Promise<string> {
	for (const worker of world) {
		expect(await worker.ended, worker.stderr()).toBe(0);
	}
	return world[0]?.stdout() ?? "";
}

/** Trains to a step in a world of some workers that nobody disturbs. */
async function trainTo(steps: number, worldSize: number, directory: string) {
	const args = argumentsFor(directory, steps);
	const stdout = await successOf(await startWorld("train.js", worldSize, args));
	const final = /^final accuracy (0\.\d{4}) after (\d+) steps$/m.exec(stdout);
	expect(Number(final?.[2])).toBe(steps);
	return {
		accuracy: Number(final?.[1]),
		resumedAt: Number(/^resumed at step (\d+)$/m.exec(stdout)?.[1]),
		weights: latest(directory)?.state.parameters.weights,
	};
}

function latest(directory: string) {
	return openCheckpoints({ directory }).loadLatest({ claim: false });
}

const reaches = (worker: FixtureProcess | undefined, step: number) =>
	waitFor(`step ${step}`, () => worker?.stdout().includes(`step ${step}: `));

it(
	"one worker and four reach the same accuracy, also with one killed in between",
	async (context) => {
		requireBuild(context, "src/runtime/checkpoint.js");
		const directory = freshDirectory();
		const endless = argumentsFor(directory, ENDLESS);
		const disturbed = await startWorld("train.js", 4, endless);
		await reaches(disturbed[0], 60);
		endProcess(disturbed[2]?.pid);
		const ends = await Promise.all(disturbed.map(({ ended }) => ended));
		expect(ends).toEqual([1, 1, "SIGKILL", 1]);
		expect(disturbed[0]?.stderr()).toMatch(/lost the connection to rank 2/);

		const saved = latest(directory)?.step ?? 0;
		const steps = saved + 100;
		const resumed = await trainTo(steps, 4, directory);
		expect(resumed.resumedAt).toBe(saved);
		expect(resumed.accuracy).toBeGreaterThan(0.9);

		// To the last bit, as long as the number of workers is the same.
		const undisturbed = await trainTo(steps, 4, freshDirectory());
		expect(resumed.weights).toEqual(undisturbed.weights);
		const alone = await trainTo(steps, 1, freshDirectory());
		expect(resumed.accuracy).toBe(alone.accuracy);
	},
	120 * SECONDS,
);

it("SIGTERM saves the last complete step, and the same command goes on from it", async (context) => {
	requireBuild(context, "src/runtime/checkpoint.js");
	const directory = freshDirectory();
	const [stopped] = await startWorld(
		"train.js",
		1,
		argumentsFor(directory, ENDLESS),
	);
	await reaches(stopped, 40);
	signalProcess(stopped?.pid, "SIGTERM");
	expect(await stopped?.ended, stopped?.stderr()).toBe(143);
	const saved = /at step (\d+) in \d+ ms \(stopped by SIGTERM\)/.exec(
		stopped?.stdout() ?? "",
	);

	const savedStep = Number(saved?.[1]);
	const resumed = await trainTo(savedStep + 20, 1, directory);
	expect(resumed.resumedAt).toBe(savedStep);
	const finished = await trainTo(savedStep + 20, 1, directory);
	expect(finished).toEqual({ ...resumed, resumedAt: savedStep + 20 });
});

it(
	"P13 under the launcher, two killed workers cost steps and nothing else",
	async (context) => {
		const launcher = requireBuild(context, "bin/elastic-run.js");
		requireProc(context);
		const steps = 300;
		const runId = `test-${process.pid}-${Math.floor(Math.random() * 1e9)}`;
		const directory = freshDirectory();
		const run = startProcess(
			[
				launcher,
				...["--nproc-per-node", "4"],
				...["--run-id", runId],
				...["--log-dir", join(directory, "..", "logs")],
				example("train.js"),
				...argumentsFor(directory, steps),
			],
			process.env,
		);
		await reaches(run, 40);
		endProcess(pidOf(runId, 2));
		await waitFor("the second round", () =>
			run.stdout().includes("resumed at"),
		);
		await reaches(run, 100);
		endProcess(pidOf(runId, 0));
		expect(await run.ended, run.stderr()).toBe(0);
		expect(run.stdout().match(/resumed at step/g)).toHaveLength(2);

		const undisturbed = await trainTo(steps, 4, freshDirectory());
		expect(latest(directory)?.state.parameters.weights).toEqual(
			undisturbed.weights,
		);
	},
	120 * SECONDS,
);

function requireProc(context: TestContext): void {
	if (!existsSync("/proc/self/environ")) {
		context.skip("workers are found by /proc, which is not there");
	}
}

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
