// What the hook counts in unmodified scripts of real frameworks, and what it says that a rank is busy with: docs/frameworks.md.
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { poll } from "../helpers/etcd-gateway.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { needModules, needTorch, PYTHON } from "../helpers/torch-trainers.js";

const fixture = (name: string) =>
	fileURLToPath(new URL(`../fixtures/frameworks/${name}`, import.meta.url));

const EVALUATES = "evaluates";
const SAVES = "saves a checkpoint";
const NOTHING = "";

/** By way: the steps that are counted, and what rank 0 is busy with, in order. */
const WAYS = {
	prepared: [0, ["prepares data", NOTHING]],
	gan: [5, []],
	zero: [3, []],
	scaler: [2, []],
	plain: [
		2,
		[
			...[NOTHING, EVALUATES, NOTHING, EVALUATES, NOTHING],
			...[SAVES, NOTHING, SAVES, NOTHING],
		],
	],
	accelerated: [3, [SAVES, NOTHING]],
	trainer: [4, [NOTHING, EVALUATES, SAVES, NOTHING, EVALUATES, SAVES, NOTHING]],
	lit: [
		2,
		[
			...[EVALUATES, NOTHING, SAVES, NOTHING, SAVES, EVALUATES, SAVES],
			...[NOTHING, "predicts", NOTHING],
		],
	],
} as const;

/** What one rank's training in one way has come to. */
interface Trained {
	readonly way: string;
	readonly steps: number;
	readonly loss: number;
	readonly phases: readonly string[];
}

it("counts what each framework calls a step, knows its phases, and changes nothing", async (context) => {
	needModules(context, "torch", "transformers", "accelerate", "lightning");
	needModules(context, "datasets");
	const site = openSite();
	const [zero = [], one = []] = await train(site, "hooked");
	const counted = (rank: readonly Trained[]) =>
		Object.fromEntries(rank.map(({ way, steps }) => [way, steps]));
	const expected = Object.entries(WAYS).map(([way, [steps]]) => [way, steps]);
	expect(counted(zero)).toEqual(Object.fromEntries(expected));
	expect(counted(one)).toEqual(Object.fromEntries(expected));
	expect(zero.map(({ way, phases }) => [way, [phases]])).toEqual(
		Object.entries(WAYS).map(([way, [, phases]]) => [way, [phases]]),
	);
	const bare = await train(site, "bare", "--no-hook");
	const losses = (ranks: readonly (readonly Trained[])[]) =>
		ranks.map((rank) => rank.map(({ way, loss }) => [way, loss]));
	expect(losses([zero, one])).toEqual(losses(bare));
}, 600_000);

it("a rank that saves is busy, and so are those that wait for it, whatever the limit", async (context) => {
	needTorch(context);
	const site = openSite();
	const launch = site.launch(
		[
			...["--nproc-per-node", "2", "--max-restarts", "0", "--run-id", "saves"],
			...["--hang-timeout", "3", "--evidence-timeout", "1"],
			...[fixture("saves.py"), site.release],
		],
		{ env: { PYTHON_EXEC: PYTHON } },
	);
	const sign = /rank 0 saves a checkpoint since (9|\d\d)(\.\d)? s/;
	await poll("a status that names it beyond the limit", 200_000, async () => {
		const status = await site.launch(["status", "saves"]).ended;
		return sign.test(status.stdout) || undefined;
	});
	expect(launch.output.stderr).not.toContain("no step for");
	expect(launch.hasEnded).toBe(false);
}, 240_000);

it("Lightning's bar is a line now and then, and not one for each batch", async (context) => {
	needModules(context, "torch", "lightning", "rich");
	const site = openSite();
	const launch = site.launch([fixture("bar.py"), site.release], {
		env: { PYTHON_EXEC: PYTHON },
	});
	const lines = () =>
		launch.output.stdout.match(/Epoch \d+: \d+\/100000, loss: /g) ?? [];
	await waitFor("two lines", () => lines().length >= 2);
	expect(launch.output.stdout).not.toMatch(/Epoch \d+: [1-9]\/100000/);
	writeFileSync(site.release, "");
	expect((await launch.ended).exitCode).toBe(0);
}, 240_000);

/** Trains in all ways; what came of them, by rank. */
async function train(
	site: LaunchSite,
	name: string,
	...flags: readonly string[]
): Promise<readonly (readonly Trained[])[]> {
	const folder = join(site.path, name);
	mkdirSync(folder);
	const ways = Object.keys(WAYS);
	const launch = site.launch(
		[
			...["--nproc-per-node", "2", "--max-restarts", "0", ...flags],
			...[fixture("ways.py"), folder, ...ways],
		],
		{ env: { PYTHON_EXEC: PYTHON, HF_HUB_OFFLINE: "1" } },
	);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	return [0, 1].map((rank) =>
		readFileSync(join(folder, `rank-${rank}`), "utf8")
			.trim()
			.split("\n")
			.map((line): Trained => JSON.parse(line)),
	);
}
