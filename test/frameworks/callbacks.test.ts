// The callbacks for trainers of frameworks: docs/checkpoints.md.
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

const SCRIPT = fileURLToPath(
	new URL("../fixtures/frameworks/callbacks.py", import.meta.url),
);

it.for([
	["transformers", ["torch", "transformers", "accelerate"]],
	["lightning", ["torch", "lightning"]],
] as const)(
	"%s: a kill and a notice, and the weights are those of an undisturbed run",
	{ timeout: 600_000 },
	async ([framework, modules], context) => {
		needModules(context, ...modules);
		const site = openSite();
		const folder = join(site.path, "checkpoints");
		const train = async (...flags: readonly string[]) => {
			const { exitCode, stdout, stderr } = await site.launch(
				[
					...["--nproc-per-node", "2", "--max-restarts", "1", ...flags],
					...[SCRIPT, folder, framework],
				],
				{
					env: {
						PYTHON_EXEC: PYTHON,
						HF_HUB_OFFLINE: "1",
						ELASTIC_RUN_WARM: "",
					},
				},
			).ended;
			const made = stdout.matchAll(/made step (\d+) in round (\d)/g);
			const steps = [...made].map(([, step, round]) => [
				Number(step),
				Number(round),
			]);
			const firstOf = (round: number) =>
				Math.min(
					...steps.filter((one) => one[1] === round).map(([step = 0]) => step),
				);
			return { exitCode, stdout, stderr, firstOf };
		};

		const disturbed = await train(
			...["--shutdown-timeout", "150", "--notices", `file:${folder}.notice`],
		);
		expect(disturbed.exitCode, disturbed.stderr).toBe(143);
		expect(disturbed.firstOf(2)).toBe(4);
		expect(disturbed.stderr).toContain("all workers are ready to end");
		expect(disturbed.stderr).not.toContain("SIGKILL: the time to end is over");

		const resumed = await train();
		expect(resumed.exitCode, resumed.stderr).toBe(0);
		expect(resumed.firstOf(1)).toBe(8);
		expect(resumed.stdout.match(/those of an undisturbed run/g)).toHaveLength(
			2,
		);
	},
);
