import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;
const runLine = cliHost();
const MARK = join(cwd, "started");

writeFileSync(join(cwd, "train.js"), "");
writeFileSync(join(cwd, "run.yaml"), "maxRestarts: 7\nnnodes: 2:4\n");
writeFileSync(join(cwd, "bad.yaml"), "maxRestart: 3\nnnodes: true\n");

test.each([
	[["--nproc", "4", "--nnodes", "3:1", "--tee", "9", "nosuch.js"], {}, 4],
	[["--config", "bad.yaml", "--role", "a b", "train.js"], {}, 3],
	[["train.js"], { ELASTIC_RUN_MAX_RESTARTS: "x", ELASTIC_RUN_TEE: "9" }, 2],
	[["nosuch.js"], {}, 1],
	[["--node-rank", "x", "--rdzv-conf", "join_timeout=1", "train.js"], {}, 2],
] as const)("J18 validate %j %j says what a launch says, one line each, and exits with 2", async (args, env, count) => {
	const launch = await runLine([...args], { cwd, env });
	const { exitCode, stdout, stderr } = await runLine(["validate", ...args], {
		cwd,
		env,
	});
	expect([exitCode, stdout, stderr]).toEqual([2, "", launch.stderr]);
	expect(stderr.trimEnd().split("\n")).toHaveLength(count);

	const json = ["validate", "--output", "json", ...args];
	const told = JSON.parse((await runLine(json, { cwd, env })).stdout);
	const problems = stderr.trimEnd().replaceAll("elastic-run: ", "").split("\n");
	expect(told).toMatchObject({ ok: false, problems, configuration: null });
});

test("J18 validate shows what would be in force as a dry run does, and starts nothing", async () => {
	const env = { ELASTIC_RUN_ROLE: "trainer", ELASTIC_RUN_ROLEE: "x" };
	const flags = ["--config", "run.yaml", "--rdzv-endpoint", "127.0.0.1:1"];
	const args = ["--output", "json", ...flags, "touch", MARK];
	const validated = await runCli(["validate", ...args], { cwd, env });
	const dry = await runCli(["--dry-run", ...args], { cwd, env });
	expect([validated.exitCode, dry.exitCode]).toEqual([0, 0]);
	expect(existsSync(MARK)).toBe(false);

	const told = JSON.parse(validated.stdout);
	const { dryRun: _, ...configuration } = JSON.parse(dry.stdout).configuration;
	expect(told).toEqual({
		ok: true,
		problems: [],
		warnings: [
			"environment ELASTIC_RUN_ROLEE is not known and has no effect; did you mean ELASTIC_RUN_ROLE?",
			expect.stringContaining("only agents of this machine can reach etcd"),
		],
		configuration: {
			...configuration,
			dryRun: { value: "0", origin: "default" },
		},
	});
	expect(told.configuration).toMatchObject({
		maxRestarts: { value: "7", origin: "run.yaml" },
		role: { value: "trainer", origin: "environment ELASTIC_RUN_ROLE" },
		rdzvEndpoint: { value: "127.0.0.1:1", origin: "flag" },
		tee: { value: "3", origin: "default" },
	});
});

test("J18 validate needs no script: a config file alone can be checked", async () => {
	const { exitCode, stdout, stderr } = await runLine(
		["validate", "--config", "run.yaml", "--rdzv-endpoint", "etcd-1:2379"],
		{ cwd },
	);
	expect([exitCode, stderr]).toEqual([0, ""]);
	expect(stdout).toMatch(/^ {2}maxRestarts +7 +run\.yaml$/m);
	expect(stdout).toMatch(/^ {2}nnodes +2:4 +run\.yaml$/m);
	expect(stdout).toMatch(/^ {2}runId +- +derived from the command$/m);
});

test("validate --help fits 100 columns", async () => {
	const { exitCode, stdout } = await runLine(["validate", "--help"], { cwd });
	expect(exitCode).toBe(0);
	expect(stdout.startsWith("Usage: elastic-run validate ")).toBe(true);
	const widths = stdout.split("\n").map((line) => line.length);
	expect(Math.max(...widths)).toBeLessThanOrEqual(100);
});
