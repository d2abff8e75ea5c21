// The lines of docs/frameworks.md that start and resume each framework.
import { mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { openSite } from "../helpers/launch.js";
import { needModules, PYTHON } from "../helpers/torch-trainers.js";

const file = (path: string) =>
	fileURLToPath(new URL(`../../${path}`, import.meta.url));
const SCRIPT = file("test/fixtures/frameworks/resumes.py");
const PAGE = readFileSync(file("docs/frameworks.md"), "utf8");

/** By name: what it imports. */
const FRAMEWORKS = {
	trainer: ["torch", "transformers", "accelerate"],
	trl: ["torch", "trl", "datasets"],
	lightning: ["torch", "lightning"],
	accelerate: ["torch", "accelerate"],
	fsdp2: ["torch"],
	jax: ["jax"],
};

describe("a script that was killed at step 5 goes on after step 4", () => {
	for (const [name, modules] of Object.entries(FRAMEWORKS)) {
		it(name, async (context) => {
			needModules(context, ...modules);
			const site = openSite();
			const folder = join(site.path, "checkpoints");
			mkdirSync(folder);
			const start = /^elastic-run (.*) train\.py$/m.exec(PAGE)?.[1] ?? "";
			const launch = site.launch(
				[...start.split(" "), "--max-restarts", "1", SCRIPT, folder, name],
				{
					env: {
						PYTHON_EXEC: PYTHON,
						HF_HUB_OFFLINE: "1",
						ELASTIC_RUN_WARM: "",
					},
				},
			);
			const { exitCode, stdout, stderr } = await launch.ended;
			expect(exitCode, stderr).toBe(0);
			const made = [...stdout.matchAll(/made step (\d) in round 2/g)];
			const steps = made.map(([, step]) => step).sort();
			expect(steps).toEqual(["5", "5", "6", "6"]);
		}, 600_000);
	}
});

it("each line that resumes, and JAX's that starts, stands in the script that these tests run", () => {
	const script = readFileSync(SCRIPT, "utf8");
	const lines = [
		...PAGE.matchAll(
			/`((?:trainer|accelerator|dcp|weights|jax)\b[^`]*\(.*?)`/g,
		),
	].map(([, line = ""]) => line);
	expect(lines).toHaveLength(6);
	for (const line of lines) expect(script).toContain(line);
});
