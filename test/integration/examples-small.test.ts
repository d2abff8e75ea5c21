import { spawnSync } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import FatalExitCodePolicy from "../../examples/fatal-exit-code-policy.js";
import { askPolicy } from "../../src/policies/check-decision.js";
import {
	example,
	requireBuild,
	startWorker,
} from "../fixtures/checkpoint-examples.js";
import { startProcess } from "../fixtures/checkpoint-process.js";
import { temporaryFolder } from "../helpers/processes.js";

it("hello.js says who it is", async (context) => {
	requireBuild(context, "src/runtime/runtime.js");
	const worker = startWorker("hello.js", { rank: 1, worldSize: 4 });
	expect(await worker.ended, worker.stderr()).toBe(0);
	expect(worker.stdout()).toBe("hello from rank 1 of 4 in round 1\n");
});

it("hello.py says who it is", (context) => {
	const python = spawnSync("python3", [example("hello.py")], {
		env: { PATH: process.env.PATH, RANK: "2", WORLD_SIZE: "4" },
		encoding: "utf8",
	});
	if (python.error) context.skip("there is no python3");
	expect(python.stderr).toBe("");
	expect(python.stdout).toBe("hello from rank 2 of 4 in round 1\n");
});

it.each([
	{ exitCode: 1, workers: "restart", charge: "run" },
	{ exitCode: 137, workers: "restart", charge: "run" },
	{ exitCode: 42, workers: "fail-run", charge: "nothing" },
])("fatal-exit-code-policy.js: exit code $exitCode → $workers", ({
	exitCode,
	...decision
}) => {
	const policy = new FatalExitCodePolicy();
	const failure = {
		runId: "run",
		nodeId: "node",
		round: 1,
		maxRestarts: 3,
		charged: { run: 3, node: 3 },
		cause: "rank 2 failed",
		rank: 2,
		localRank: 2,
		role: "default",
		exitCode,
		signal: null,
		uptimeMs: 1_000,
		errorMessage: undefined,
	};
	expect(
		askPolicy(policy.name, "failure", () => policy.onWorkerFailure(failure)),
	).toMatchObject(decision);
	for (const change of [policy.onScaleUp, policy.onScaleDown]) {
		expect(
			askPolicy(policy.name, "scale", () => change(failure)),
		).toMatchObject({
			workers: "restart",
			charge: "nothing",
		});
	}
});

it("under the launcher, exit code 42 fails the run although its budget is not spent", async (context) => {
	const launcher = requireBuild(context, "bin/elastic-run.js");
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const policy = ["--restart-policy", example("fatal-exit-code-policy.js")];
	const logs = ["--log-dir", path];
	const run = startProcess(
		[launcher, ...policy, ...logs, "--no-node", "sh", "-c", "exit 42"],
		process.env,
	);
	expect(await run.ended, run.stderr()).toBe(1);
	expect(run.stderr()).toContain("exited with 42: another try cannot help");
	expect(run.stderr()).toContain("restarts: 0 of 3 used");
});
