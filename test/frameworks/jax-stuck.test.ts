import { expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

it.for([
	["a collective", "collective"],
	["jax's shutdown", "shutdown"],
] as const)(
	"A5 a jax process that waits in %s for a killed one, and ignores SIGTERM, is not waited for",
	{
		timeout: 600_000,
	},
	async ([, waitsIn], context) => {
		needModules(context, "jax");
		const site = openSite();
		const { exitCode, stdout, stderr } = await site.launch(
			[
				...["--nproc-per-node", "2", "--shutdown-timeout", "1h"],
				job("jax_stuck.py"),
			],
			{ env: { PYTHON_EXEC: PYTHON, WAITS_IN: waitsIn } },
		).ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).toMatch(
			/rank 0 waits for a worker that has ended, at .*: it is killed 3s after SIGTERM/,
		);
		expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
		expect(stdout).toContain("step 5");
	},
);
