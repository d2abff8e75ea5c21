import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { job, openSite, type WorkerRecord } from "../helpers/launch.js";
import { isAlive, signalProcess } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

const identity = ({ env }: WorkerRecord) => [
	env.RANK,
	env.LOCAL_RANK,
	env.GROUP_RANK,
	env.ROLE_RANK,
];

const values = (workers: readonly WorkerRecord[], name: string) => [
	...new Set(workers.map(({ env }) => env[name])),
];

it.concurrent("A2 A3 J14 two workers that are killed at once are one incident: it takes all with it, and all start again with the same ranks", async () => {
	const site = openSite();
	const launch = site.launch(["--nproc-per-node", "3", job("works.sh")]);
	const before = await site.sawWorkers(3, 1);

	for (const { pid } of before.slice(1)) signalProcess(pid, "SIGKILL");
	const after = await site.sawWorkers(3, 2);

	expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
	expect(after.map(identity)).toEqual(before.map(identity));
	expect(values(after, "TORCHELASTIC_RESTART_COUNT")).toEqual(["1"]);
	expect(values(before, "TORCHELASTIC_RESTART_COUNT")).toEqual(["0"]);
	expect(values(after, "MASTER_PORT")).toHaveLength(1);
	expect(values(after, "MASTER_PORT")).not.toEqual(
		values(before, "MASTER_PORT"),
	);
	const logs = [...before, ...after].map(({ env }) => logOf(env));
	expect(new Set(logs).size).toBe(6);
	expect(logs.filter((path) => !existsSync(path))).toEqual([]);
	const { stderr, exitCode } = await stop(launch);
	expect(stderr).toMatch(/rank [12] failed: killed by SIGKILL/);
	expect(stderr).toContain("restarts: 1 of 3 used");
	expect(exitCode).toBe(143);
});

it.concurrent("J10 a late failure starts those that had succeeded again too", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"3",
		job("fails-in-round-1.js"),
	]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(stderr.trimEnd().split("\n").at(-1)).toMatch(
		/^run \S+ succeeded: 2 rounds, 1 restart/,
	);
	expect(site.workers(1).map(({ env }) => env.RANK)).toEqual(["0", "1", "2"]);
	expect(site.workers(2).map(({ env }) => env.RANK)).toEqual(["0", "1", "2"]);
	expect(site.workers()).toHaveLength(6);
	await site.isSwept();
});

it.concurrent("J9 workers that fail at once are counted until the budget is spent", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"2",
		"--max-restarts",
		"2",
		job("exits-with.sh"),
		"1:9",
	]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	const failed = site.workers().filter(({ env }) => env.RANK === "1");
	expect(failed.map(({ env }) => env.ELASTIC_RUN_ROUND).sort()).toEqual([
		"1",
		"2",
		"3",
	]);
	expect(stderr).toContain("restarts: 2 of 2 used");
	expect(stderr).toContain("the budget of 2 restarts is spent");
	const story = stderr.slice(stderr.indexOf("root cause:"));
	expect(story).toMatch(
		/rank 1 failed: exit code 9\n.* same as above\n.* same as above\n/,
	);
	for (const { env } of failed) {
		expect(readFileSync(logOf(env), "utf8")).toBe("rank 1 gives up\n");
	}
	await site.isSwept();
});

it.concurrent("a worker that ignores SIGTERM is killed after the shutdown time-out, and the round goes on", async () => {
	const site = openSite();
	const launch = site.launch([
		"--nproc-per-node",
		"2",
		"--shutdown-timeout",
		"300ms",
		job("ignores-sigterm.js"),
		"rank-0-fails",
	]);
	const before = await site.sawWorkers(2, 1);
	writeFileSync(site.release, "");
	await site.sawWorkers(2, 2);
	expect(before.filter(({ pid }) => isAlive(pid))).toEqual([]);
	const { exitCode, stderr } = await stop(launch);
	expect(stderr).toContain("SIGKILL: the time to end is over");
	expect(exitCode).toBe(143);
	await site.isSwept();
});

function stop(launch: ReturnType<ReturnType<typeof openSite>["launch"]>) {
	launch.signal("SIGTERM");
	return launch.ended;
}

function logOf(env: WorkerRecord["env"]): string {
	return join(env.TORCHELASTIC_ERROR_FILE ?? "", "../stderr.log");
}

const NO_RESTARTS = ["--max-restarts", "0"];

/** From the report's first line to the end of stderr. */
function reportIn(stderr: string): string[] {
	const lines = stderr.trimEnd().split("\n");
	return lines.slice(lines.findIndex((line) => line.startsWith("root cause:")));
}

describe("J8 the report of a run that failed", { concurrent: true }, () => {
	it("is the last thing on stderr and names the root cause, its collateral in one line; the launcher's own error file has the exit in words", async () => {
		const site = openSite();
		const file = join(site.path, "launcher.json");
		const launch = site.launch(
			[
				...["--nproc-per-node", "4", ...NO_RESTARTS],
				...[job("kills-itself.sh"), "SIGSEGV"],
			],
			{ env: { TORCHELASTIC_ERROR_FILE: file } },
		);
		const { exitCode, stderr, stdout } = await launch.ended;
		expect(exitCode).toBe(1);
		const [root] = site.workers();
		const report = reportIn(stderr);
		expect(report[0]).toBe(
			`root cause: rank 0 on node-a (pid ${root?.pid}), round 1: killed by SIGSEGV`,
		);
		expect(report[1]).toMatch(/signal SIGSEGV, exit code 139, local rank 0/);
		expect(report).toContain("stopped because of it: ranks 1-3");
		expect(report).toContain("restarts: 0 of 0 used");
		expect(report.at(-1)).toMatch(/^logs: /);
		expect(stdout).toBe("");
		expect(JSON.parse(readFileSync(file, "utf8")).message).toMatchObject({
			message: expect.stringMatching(
				/^root cause: rank 0 on node-a .* killed by SIGSEGV$/,
			),
			errorCode: 139,
		});
	});
});

describe("the launcher's own TORCHELASTIC_ERROR_FILE", {
	concurrent: true,
}, () => {
	it("gets the root cause of a run that failed, as the report shows it in @record's format, and no worker gets that file", async () => {
		const site = openSite();
		const file = join(site.path, "launcher.json");
		const { exitCode, stderr } = await site.launch(
			[...NO_RESTARTS, job("writes-torch-error-file.js")],
			{ env: { TORCHELASTIC_ERROR_FILE: file } },
		).ended;
		expect(exitCode).toBe(1);
		const report = reportIn(stderr);
		expect(report).toContain("  error: RuntimeError: shape mismatch");
		expect(report.join("\n")).toContain('File "train.py", line 7, in main');
		const [worker] = site.workers();
		expect(worker?.env.TORCHELASTIC_ERROR_FILE).not.toBe(file);
		expect(JSON.parse(readFileSync(file, "utf8"))).toEqual({
			message: {
				message: "RuntimeError: shape mismatch",
				errorCode: 1,
				extraInfo: {
					py_callstack: expect.stringContaining('"train.py", line 7'),
					timestamp: expect.stringMatching(/^\d{10}$/),
					root_cause: `root cause: rank 0 on node-a (pid ${worker?.pid}), round 1: exit code 1`,
				},
			},
		});
	});
});

describe("J11 exit codes", { concurrent: true }, () => {
	it("--output json prints one object on stdout, and the workers' lines on stderr; SIGKILL is 137; an error file that nobody reads holds up nothing", async () => {
		const site = openSite();
		const file = join(site.path, "pipe");
		execFileSync("mkfifo", [file]);
		const dies =
			'echo "rank $RANK is here"; [ $RANK = 0 ] || exec sleep 600; kill -KILL $$';
		const { exitCode, stdout, stderr } = await site.launch(
			[
				...["--nproc-per-node", "2", "--output", "json"],
				...[...NO_RESTARTS, "sh", "-c", dies],
			],
			{ env: { TORCHELASTIC_ERROR_FILE: file } },
		).ended;
		expect(exitCode).toBe(1);
		expect(stdout.trimEnd().split("\n")).toHaveLength(1);
		expect(JSON.parse(stdout)).toMatchObject({
			outcome: "failed",
			exitCode: 1,
			nodeId: "node-a",
			restarts: { used: 0, allowed: 0 },
			rootCause: { failure: { rank: 0, exitCode: 137, signal: "SIGKILL" } },
			workers: [
				{ rank: 0, exitCode: 137, signal: "SIGKILL", collateral: false },
				{ rank: 1, collateral: true },
			],
		});
		expect(stderr).toContain("[node-a 0] rank 0 is here");
		const warnings = stderr.match(
			/cannot be written to TORCHELASTIC_ERROR_FILE/g,
		);
		expect(warnings).toHaveLength(1);
	});

	it("a user's policy restarts at other codes, and fails the run at its fatal one, whatever is left of the budget", async () => {
		const site = openSite();
		const policy = fileURLToPath(
			new URL("../../examples/fatal-exit-code-policy.js", import.meta.url),
		);
		const exits = "exit $((40 + ELASTIC_RUN_ROUND))";
		const launch = site.launch([
			...["--restart-policy", policy, "sh", "-c", exits],
		]);
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(1);
		const report = reportIn(stderr);
		expect(report[0]).toContain("round 2: exit code 42");
		expect(report.join("\n")).toContain("rank 0 failed: exit code 41");
		expect(stderr).toContain("another try cannot help");
		expect(report).toContain("restarts: 1 of 3 used");
	});
});

describe("an uncaught exception", { concurrent: true }, () => {
	/** How the failed rank is described, in each place where it is. */
	async function expectCause(
		worker: string,
		name: string,
		words: string,
	): Promise<void> {
		const site = openSite();
		writeFileSync(join(site.path, name), worker);
		const file = join(site.path, "launcher.json");
		const flags = [...NO_RESTARTS, "--exit-timeout", "500ms"];
		const { stderr } = await site.launch([...flags, name], {
			cwd: site.path,
			env: { PYTHON_EXEC: PYTHON, TORCHELASTIC_ERROR_FILE: file },
		}).ended;
		expect(stderr).toContain(`RUNNING→STOPPING rank 0 failed: ${words}\n`);
		expect(stderr).toContain(`, round 1: ${words}\n`);
		expect(stderr).toContain(`: ${words}; the budget of 0 restarts is spent`);
		expect(stderr).toContain(
			"hint: it had not ended 500ms after its exception (--exit-timeout)",
		);
		expect(readFileSync(file, "utf8")).toContain(words);
	}

	it("of a Python worker that does not end is the cause: log, report, error file", async (context) => {
		needPython(context);
		await expectCause(
			`import threading, time
threading.Thread(target=time.sleep, args=(1000,)).start()
def load():
    raise ValueError("bad batch 12\\nand more")
load()
`,
			"train.py",
			"ValueError: bad batch 12, at train.py:4 in load",
		);
	});

	it("of a Node worker that does not end is the cause: log, report, error file", () =>
		expectCause(
			`process.on("exit", () => { for (;;); });
function load() { throw new TypeError("bad batch 12"); }
load();
`,
			"train.cjs",
			"TypeError: bad batch 12, at train.cjs:2 in load",
		));
});

// All kinds of hangs: test/slow/steps-hang.test.ts.
it.concurrent("A4 A5 a worker that hangs is named, ends its round, and the run goes on", async () => {
	const { exitCode, stderr } = await openSite().launch(
		[
			...["--nproc-per-node", "2", "--hang-timeout", "3"],
			...["--evidence-timeout", "2", job("steps.js")],
		],
		{
			env: {
				...{ HANG_RANK: "1", HANG_HOW: "stop" },
				...{ OTHERS: "wait", STEPS_BY: "report" },
			},
		},
	).ended;
	expect(exitCode, stderr).toBe(0);
	expect(stderr).toMatch(/rank 1 failed: hung for \d+ s: stopped by SIGSTOP/);
	expect(stderr).toContain("succeeded: 2 rounds, 1 restart");
});
