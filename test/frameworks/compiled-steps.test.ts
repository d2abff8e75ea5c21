// What the hook does to a script whose steps torch compiles: nothing, and it counts those that Python ends. docs/python.md.
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { needTorch, PYTHON } from "../helpers/torch-trainers.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/hook/compiled.py", import.meta.url),
);

/** What one rank's training in one way has come to. */
interface Trained {
	readonly way: string;
	readonly backend: string;
	readonly loss: number;
	/** The code of each. */
	readonly graphs: readonly string[];
	readonly breaks: Readonly<Record<string, number>>;
	readonly recompiles: number;
	/** That the hook has counted; null without it. */
	readonly steps: number | null;
}

beforeEach(needTorch);

/** By way and backend: the steps that are counted. */
const WAYS = {
	"optimizer_step:aot_eager": 3,
	"training_step:aot_eager": 3,
	"scaled_step:eager": 3,
	"closure_step:eager": 3,
	"several_optimizers:eager": 3,
	"model_alone:aot_eager": 3,
	"step_of_loss:eager": 3,
	"full_graph:aot_eager": 0,
};
const MACHINE_CODE = { "training_step:inductor": 3 };
const canCompile = !spawnSync("g++", ["--version"]).error;

it("changes nothing in compiled steps, the first one too, and counts those that Python ends", async () => {
	// All in one process: it takes seconds to start.
	const ways = canCompile ? { ...WAYS, ...MACHINE_CODE } : WAYS;
	expect(await expectSame(Object.keys(ways))).toEqual([Object.values(ways)]);
}, 600_000);

if (!canCompile) {
	it("changes nothing where the graphs become machine code", (context) =>
		context.skip("inductor needs a C++ compiler, and there is no g++"));
}

it("does so in a model that two ranks share, whose graph torch splits", async () => {
	const ways = ["training_step:aot_eager", "model_alone:aot_eager"];
	const steps = await expectSame(ways, "--nproc-per-node", "2");
	expect(steps).toEqual([
		[3, 3],
		[3, 3],
	]);
}, 600_000);

/** Trains without the hook and with it, and compares all but the steps that it counts, which it returns by rank. */
async function expectSame(
	ways: readonly string[],
	...flags: readonly string[]
): Promise<readonly (readonly (number | null)[])[]> {
	const site = openSite();
	const bare = await train(site, "bare", [...flags, "--no-hook"], ways);
	const hooked = await train(site, "hooked", flags, ways);
	expect(bare[0]).toHaveLength(ways.length);
	expect(bare[0]?.some(({ graphs }) => graphs.length > 0)).toBe(true);
	const nothingCounted = hooked.map((rank) =>
		rank.map((one) => ({ ...one, steps: null })),
	);
	expect(nothingCounted).toEqual(bare);
	return hooked.map((rank) => rank.map(({ steps }) => steps));
}

async function train(
	site: LaunchSite,
	name: string,
	flags: readonly string[],
	ways: readonly string[],
): Promise<readonly (readonly Trained[])[]> {
	const folder = join(site.path, name);
	mkdirSync(folder);
	const launch = site.launch(
		["--max-restarts", "0", ...flags, SCRIPT, folder, ...ways],
		// A pool of compilers would take longer to start than to compile.
		{ env: { PYTHON_EXEC: PYTHON, TORCHINDUCTOR_COMPILE_THREADS: "1" } },
	);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	return readdirSync(folder)
		.sort()
		.map((file) => {
			const lines = readFileSync(join(folder, file), "utf8").trim().split("\n");
			return lines.map((line): Trained => JSON.parse(line));
		});
}
