import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import type { WorkerSpec } from "../../../src/processes/worker.js";
import { helperEnvironment } from "../../../src/warm/helper-messages.js";
import { flagAgainstHook } from "../../../src/warm/python-command.js";
import { differenceOf, PLACE } from "../../../src/warm/same-worker.js";

const SPEC: WorkerSpec = {
	...{ localRank: 0, file: "/usr/bin/python3", args: ["-u", "train.py"] },
	...{ cwd: "/job", stdout: 1, stderr: 2 },
	env: { RANK: "0", MASTER_PORT: "1", OMP_NUM_THREADS: "1", HOME: "/root" },
};

it("gives the helper what all workers have, and whose helper it is", () => {
	expect(helperEnvironment(SPEC.env)).toEqual({
		...{ OMP_NUM_THREADS: "1", HOME: "/root" },
		ELASTIC_RUN_HELPER_OF: String(process.pid),
	});
});

it.for<readonly [Partial<WorkerSpec>, string | undefined]>([
	[{}, undefined],
	[{ env: { ...SPEC.env, RANK: "3", WORLD_SIZE: "4" } }, undefined],
	[
		{ env: { ...SPEC.env, OMP_NUM_THREADS: "2" } },
		"OMP_NUM_THREADS has another value",
	],
	[{ file: "/usr/bin/python4" }, "the program has changed"],
	[{ args: ["-I", "train.py"] }, "the arguments have changed"],
	[{ cwd: "/elsewhere" }, "the working directory is another one"],
])("compares a start with that of the helper: %o", ([change, difference]) => {
	expect(differenceOf(SPEC, { ...SPEC, ...change })).toBe(difference);
});

it.for([
	[["-I", "train.py"], "-I"],
	[["-u", "-sE", "train.py"], "-sE"],
	[["-u", "-m", "SES"], undefined],
	[["-X", "dev", "-I", "train.py"], "-I"],
	[["-uX", "dev", "-Wdefault::ImportWarning", "-E", "train.py"], "-E"],
	[["--check-hash-based-pycs", "always", "-S", "train.py"], "-S"],
	[["-W", "-I", "train.py"], undefined],
	[["-mSES", "-I"], undefined],
	[["-c", "-I", "-E"], undefined],
	[["--", "train.py", "-I"], undefined],
] as const)("finds the flag that keeps the hook out: %o", ([args, flag]) => {
	expect(flagAgainstHook(args)).toBe(flag);
});

it("names the same variables as the helper does", () => {
	const path = "../../../src/runtime/python/hook/_elastic_run_warm_learned.py";
	const text = readFileSync(new URL(path, import.meta.url), "utf8");
	const listed = /^PLACE = frozenset\(\s*"""([^"]*)"""/m.exec(text)?.[1];
	expect(listed?.trim().split(/\s+/).sort()).toEqual([...PLACE].sort());
});
