// Restarts are warm where people train: with PyTorch and what they install beside it (docs/warm-restarts.md).
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { type Launch, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";
import { isReady, order } from "../helpers/warm.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/warm/frameworks.py", import.meta.url),
);
const LIMIT_MS = 1_200_000;
const PATIENCE_MS = 300_000;

/** By name: what it imports, how many workers train, and what they have at their first line. */
const TRAINERS = [
	["tqdm", ["tqdm"], 2, "torch"],
	["accelerate", ["accelerate"], 1, "torch"],
	["lightning", ["lightning"], 1, "torch lightning torchmetrics"],
	[
		...(["trainer", ["transformers", "datasets", "accelerate"], 1] as const),
		"torch transformers pyarrow",
	],
] as const;

describe("a worker that was killed", () => {
	for (const [name, modules, workers, ahead] of TRAINERS) {
		const title = `has its framework at its successor's first line, and steps again soon: ${name}`;
		it(
			title,
			async (context) => {
				needModules(context, "torch", ...modules);
				const site = openSite();
				const launch = site.launch(
					[
						...["--nproc-per-node", String(workers), "--run-id", name],
						...[SCRIPT, site.path, name],
					],
					{ env: { PYTHON_EXEC: PYTHON, ELASTIC_RUN_WARM: "" } },
				);
				await isReady(launch);
				expect(launch.output.stderr).toMatch(/restarts will be warm: .*\)\n/);
				order(site, 1, "go");
				const warm = await untilStep(launch, 2);
				order(site, 2, "go");
				const { exitCode, stdout } = await launch.ended;
				expect(exitCode).toBe(0);
				const had = (round: number) =>
					stdout.match(new RegExp(`(?<=round ${round}: had ).*(?=\\.)`, "g"));
				expect(had(1)).toEqual(Array(workers).fill(""));
				expect(had(2)).toHaveLength(workers);
				for (const names of had(2) ?? []) {
					const all = expect.arrayContaining(ahead.split(" "));
					expect(names.split(" ")).toEqual(all);
				}
				const cold = await untilStep(launch, 1);
				expect(warm).toBeLessThan(cold / 2);
				const words = ["history", name, "--output", "json"];
				const history = await site.launch(words).ended;
				const [run] = JSON.parse(history.stdout).instances;
				const { savedMs } = run.rounds[1].starts[0];
				expect(savedMs).toBeGreaterThan((cold - warm) / 2);
			},
			LIMIT_MS,
		);
	}
});

/** From the beginning of a round until its first step, in milliseconds. */
async function untilStep(launch: Launch, round: number): Promise<number> {
	const stepped = new RegExp(`round ${round}: step at (\\d+)`);
	const began = new RegExp(
		`^(\\S+) (\\S+) JOINING→RUNNING round ${round}:`,
		"m",
	);
	await waitFor(
		`a step of round ${round}`,
		() => stepped.test(launch.output.stdout),
		PATIENCE_MS,
	);
	const [, day, time] = began.exec(launch.output.stderr) ?? [];
	const step = stepped.exec(launch.output.stdout)?.[1];
	return Number(step) - new Date(`${day}T${time}`).getTime();
}
