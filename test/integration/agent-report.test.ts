import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { job, openSite } from "../helpers/launch.js";

const PROJECT = fileURLToPath(new URL("../..", import.meta.url));
const NO_RESTARTS = ["--max-restarts", "0"];

/** From the report's first line to the end of stderr. */
function reportIn(stderr: string): string[] {
	const lines = stderr.trimEnd().split("\n");
	return lines.slice(lines.findIndex((line) => line.startsWith("root cause:")));
}

describe("J8 the report of a run that failed", () => {
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

	it("shows the last lines of its stderr without being asked", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", "--tee", "0", ...NO_RESTARTS],
			...[job("exits-with.sh"), "1:7"],
		]);
		const { stderr } = await launch.ended;
		expect(reportIn(stderr)).toContain("  | rank 1 gives up");
		expect(stderr).not.toContain("[node-a 1]");
	});

	it("shows the error of a Node worker with its stack", async () => {
		const site = openSite();
		const launch = site.launch(
			[
				...[...NO_RESTARTS, "--no-node", process.execPath],
				...["--import", "elastic-run/register", job("throws.js")],
			],
			{ cwd: PROJECT },
		);
		const { stderr } = await launch.ended;
		const report = reportIn(stderr).join("\n");
		expect(report).toContain("error: TypeError: the data has the wrong shape");
		expect(report).toMatch(/ {4}at .*throws\.js:6/);
		const [worker] = site.workers();
		expect(
			JSON.parse(
				readFileSync(worker?.env.TORCHELASTIC_ERROR_FILE ?? "", "utf8"),
			),
		).toHaveProperty("message.message");
	});

	it("tells the story of each round", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--max-restarts", "1", job("exits-with.sh"), "0:6"],
		]);
		const report = reportIn((await launch.ended).stderr);
		expect(report[0]).toContain("round 2: exit code 6");
		const rounds = report.filter((line) =>
			line.endsWith("rank 0 failed: exit code 6"),
		);
		expect(rounds).toHaveLength(2);
	});
});

describe("the launcher's own TORCHELASTIC_ERROR_FILE", () => {
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

	it("is left alone by a run that succeeded", async () => {
		const site = openSite();
		const file = join(site.path, "launcher.json");
		writeFileSync(file, "before");
		await site.launch(["run", "true"], {
			env: { TORCHELASTIC_ERROR_FILE: file },
		}).ended;
		expect(readFileSync(file, "utf8")).toBe("before");
	});

	it.each([
		["in a directory that is not there", "nowhere/error.json"],
		["that is a directory", "."],
		["that is a pipe which nobody reads", "pipe"],
	])("%s is one warning, and the exit code stays", async (_, name) => {
		const site = openSite();
		execFileSync("mkfifo", [join(site.path, "pipe")]);
		const { exitCode, stderr } = await site.launch(
			[...NO_RESTARTS, job("exits-with.sh"), "0:3"],
			{ env: { TORCHELASTIC_ERROR_FILE: join(site.path, name) } },
		).ended;
		expect(exitCode).toBe(1);
		const told = stderr.match(/cannot be written to TORCHELASTIC_ERROR_FILE/g);
		expect(told).toHaveLength(1);
		expect(reportIn(stderr)[0]).toMatch(/^root cause: rank 0/);
	});
});

describe("J11 exit codes", () => {
	it.each([
		["SIGKILL", 137],
		["SIGABRT", 134],
		["SIGTERM", 143],
	])("a worker that dies of %s exited with %i", async (signal, exitCode) => {
		const site = openSite();
		const launch = site.launch([
			...["--output", "json", ...NO_RESTARTS, job("kills-itself.sh"), signal],
		]);
		const end = await launch.ended;
		expect(end.exitCode).toBe(1);
		expect(JSON.parse(end.stdout)).toMatchObject({
			outcome: "failed",
			exitCode: 1,
			rootCause: { failure: { rank: 0, exitCode, signal } },
			workers: [{ rank: 0, exitCode, signal, collateral: false }],
		});
	});

	it("--output json prints one object on stdout, and the workers' lines on stderr", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--nproc-per-node", "2", "--output", "json", job("prints.sh"), "3"],
		]);
		const { exitCode, stdout, stderr } = await launch.ended;
		expect(exitCode).toBe(0);
		expect(stdout.trimEnd().split("\n")).toHaveLength(1);
		expect(JSON.parse(stdout)).toMatchObject({
			outcome: "succeeded",
			nodeId: "node-a",
			restarts: { used: 0, allowed: 3 },
			workers: [
				{ rank: 0, exitCode: 0, signal: null },
				{ rank: 1, exitCode: 0, signal: null },
			],
		});
		expect(stderr).toContain("[node-a 1] line 3 of rank 1");
		expect(stderr).toContain("[node-a 0] an aside of rank 0");
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

	it("T12 an illegal decision of a policy fails the run and names the policy", async () => {
		const site = openSite();
		const launch = site.launch([
			...["--restart-policy", job("illegal-policy.js")],
			...[job("exits-with.sh"), "0:1"],
		]);
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(1);
		expect(stderr).toContain(
			'restart policy "reboots" decided workers: "reboot"',
		);
	});
});
