import { spawn } from "node:child_process";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, onTestFinished, test } from "vitest";
import { CLI, runCli, startCli } from "../helpers/cli.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;
mkdirSync(join(cwd, "channels"));

// Nothing of a run may remain outside of the folder.
const options = {
	cwd,
	env: {
		ELASTIC_RUN_LOG_DIR: "logs",
		ELASTIC_RUN_DIR: join(cwd, "channels"),
		ELASTIC_RUN_SHUTDOWN_TIMEOUT: "60",
	},
};

const policy = (name: string, onWorkerFailure: string) =>
	writeFileSync(
		join(cwd, name),
		`const restart = () => ({ workers: "restart", charge: "nothing", reason: "" });
		export default class {
			name = "mine";
			onScaleUp() { return restart(); }
			onScaleDown() { return restart(); }
			onWorkerFailure() { ${onWorkerFailure} }
		}`,
	);

const decision =
	'return { workers: "fail-run", charge: "nothing", reason: "as my policy says" };';
policy("policy.mjs", decision);
policy(
	"crash.mjs",
	`process.nextTick(() => { throw new Error("boom"); }); ${decision}`,
);

test("every source reaches the run", async () => {
	writeFileSync(
		join(cwd, "x.yaml"),
		"role: from-file\nlogPrefix: '$" + "{role}:'\n",
	);
	const result = await runCli(
		[
			"--config",
			"x.yaml",
			"--nproc-per-node",
			"2",
			"sh",
			"-c",
			'echo "$RANK $ROLE_NAME $1"',
			"-",
			"-h",
		],
		options,
	);
	expect(result.exitCode).toBe(0);
	expect(result.stdout.split("\n").sort()).toEqual([
		"",
		"from-file:0 from-file -h",
		"from-file:1 from-file -h",
	]);
	expect(existsSync(join(cwd, "logs"))).toBe(true);
});

test("--output json prints one object on stdout and nothing else", async () => {
	const result = await runCli(
		[
			"--output",
			"json",
			"--max-restarts",
			"0",
			"sh",
			"-c",
			"echo line; exit 7",
		],
		options,
	);
	const report = JSON.parse(result.stdout);
	expect(report).toMatchObject({ outcome: "failed", exitCode: 1 });
	expect(result.exitCode).toBe(1);
	expect(result.stderr).toContain("line");
});

test("a user's policy decides", async () => {
	const result = await runCli(
		["--restart-policy", "./policy.mjs", "--output", "json", "false"],
		options,
	);
	// The default policy would have restarted three times.
	expect(JSON.parse(result.stdout).rounds).toHaveLength(1);
	expect(result.exitCode).toBe(1);
});

test("what nobody expected is reported as a bug", async () => {
	const args = ["--restart-policy", "./crash.mjs", "false"];
	const result = await runCli(args, options);
	expect(result.stderr).toContain(
		"elastic-run: internal error: boom; this is a bug, set ELASTIC_RUN_DEBUG=1 for details\n",
	);
	expect(result.exitCode).toBe(70);
	const detailed = await runCli(args, {
		...options,
		env: { ...options.env, ELASTIC_RUN_DEBUG: "1" },
	});
	expect(detailed.stderr).toMatch(/^elastic-run: {5}at .*crash.mjs:\d+/m);
});

describe("signals", () => {
	/** A run whose worker has said that it is ready. */
	async function startReady(worker: string, ...flags: string[]) {
		const run = startCli([...flags, "sh", "-c", worker], options);
		onTestFinished(() => {
			run.child.kill("SIGKILL");
		});
		await waitFor("the worker's line", () =>
			run.output.stdout.includes("ready"),
		);
		return run;
	}

	test.each([
		["SIGTERM", 143],
		["SIGINT", 130],
		["SIGHUP", 129],
	] as const)("%s makes the agent leave", async (signal, exitCode) => {
		const { child, ended } = await startReady("echo ready; exec sleep 60");
		child.kill(signal);
		const result = await ended;
		expect(result.stderr).toContain(
			`elastic-run: ${signal}: stopping the workers; a second signal kills them at once\n`,
		);
		expect(result.exitCode).toBe(exitCode);
	});

	test("a second one kills at once", async () => {
		const { child, ended, output } = await startReady(
			"trap '' INT TERM; echo ready; while :; do sleep 0.1; done",
		);
		child.kill("SIGINT");
		await waitFor("the first to be seen", () =>
			output.stderr.includes("SIGINT: "),
		);
		child.kill("SIGTERM");
		const result = await ended;
		expect(result.stderr).toContain("SIGTERM: killing the workers\n");
		expect(result.exitCode).toBe(130);
	});

	test("others are handled where asked for", async () => {
		const { child, ended } = await startReady(
			"echo ready; exec sleep 60",
			"--signals-to-handle",
			"usr2",
		);
		child.kill("SIGUSR2");
		expect((await ended).exitCode).toBe(128 + 12);
	});

	test("suspending is refused", async () => {
		const { child, ended, output } = await startReady(
			"echo ready; exec sleep 60",
		);
		child.kill("SIGTSTP");
		await waitFor("the refusal", () =>
			output.stderr.includes("suspending is not supported"),
		);
		child.kill("SIGTERM");
		expect((await ended).exitCode).toBe(143);
	});
});

test("a console whose reader is gone does not end the run", async () => {
	const run = spawn(
		"sh",
		[
			"-c",
			`"$@" | head -1`,
			"-",
			process.execPath,
			CLI,
			"sh",
			"-c",
			"for i in 1 2 3 4 5; do echo $i; sleep 0.1; done; touch done",
		],
		{ cwd, env: { ...process.env, ...options.env }, stdio: "ignore" },
	);
	await new Promise((resolve) => run.on("close", resolve));
	expect(existsSync(join(cwd, "done"))).toBe(true);
});
