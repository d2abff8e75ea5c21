import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
const runLine = cliHost();

function directory(
	name: string,
	files: Readonly<Record<string, string>>,
): string {
	const path = join(folder.path, name);
	mkdirSync(path, { mode: 0o755 });
	for (const [file, content] of Object.entries(files)) {
		writeFileSync(join(path, file), content, { mode: 0o644 });
	}
	return path;
}

const empty = directory("empty", {});
const withYaml = directory("yaml", {
	"elastic-run.yaml": "maxRestarts: 7\nrole: from-file\nnproc-per-node: 2\n",
	"other.json": '{ "maxRestarts": 8 }',
});
const withJson = directory("json", {
	"elastic-run.json":
		'{ "redirects": { "0": 1 }, "signalsToHandle": ["TERM"] }',
});
const withBoth = directory("both", {
	"elastic-run.yaml": "tee: 0",
	"elastic-run.json": "{}",
});

async function dryRun(
	cwd: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
) {
	const result = await runLine(
		["--dry-run", "--output", "json", ...args, "true"],
		{ cwd, env },
	);
	expect(result.exitCode).toBe(0);
	return { ...JSON.parse(result.stdout), stderr: result.stderr };
}

describe("precedence", () => {
	const env = { ELASTIC_RUN_MAX_RESTARTS: "5" };
	const flag = ["--max-restarts", "4"];

	test.each([
		["flag first", withYaml, flag, env, "4", "flag"],
		[
			"then environment",
			withYaml,
			[],
			env,
			"5",
			"environment ELASTIC_RUN_MAX_RESTARTS",
		],
		[
			"before torchrun's",
			withYaml,
			[],
			{ ...env, PET_MAX_RESTARTS: "6" },
			"5",
			"environment ELASTIC_RUN_MAX_RESTARTS",
		],
		[
			"then torchrun's",
			withYaml,
			[],
			{ PET_MAX_RESTARTS: "6" },
			"6",
			"environment PET_MAX_RESTARTS",
		],
		["then config file", withYaml, [], {}, "7", "./elastic-run.yaml"],
		[
			"an empty variable is unset",
			withYaml,
			[],
			{ ELASTIC_RUN_MAX_RESTARTS: "" },
			"7",
			"./elastic-run.yaml",
		],
		["then default", empty, [], {}, "3", "default"],
		[
			"the last of two flags",
			empty,
			[...flag, "--max_restarts=6"],
			{},
			"6",
			"flag",
		],
		[
			"a named file",
			withYaml,
			["--config", "other.json"],
			{},
			"8",
			"other.json",
		],
		[
			"a file named by the environment",
			withYaml,
			[],
			{ ELASTIC_RUN_CONFIG: "other.json" },
			"8",
			"other.json",
		],
	])("%s", async (_, cwd, args, environment, value, origin) => {
		const { configuration } = await dryRun(cwd, args, environment);
		expect(configuration.maxRestarts).toEqual({ value, origin });
	});
});

test("a bad value of torchrun's variable names it, and one warning names those without effect", async () => {
	const { exitCode, stderr } = await runLine(["--dry-run", "true"], {
		cwd: empty,
		env: { PET_NNODES: "two", PET_START_METHOD: "fork", PET_RUN_PATH: "1" },
	});
	expect(exitCode).toBe(2);
	expect(stderr.split("\n")).toEqual([
		expect.stringContaining(
			"environment PET_START_METHOD, PET_RUN_PATH have no effect here",
		),
		expect.stringContaining('environment PET_NNODES: "two" is not valid'),
		"",
	]);
});

describe("a config file in the working directory", () => {
	test("is announced", async () => {
		const { stderr, workers } = await dryRun(withYaml, []);
		expect(stderr).toBe(
			"elastic-run: settings are read from ./elastic-run.yaml\n",
		);
		expect(workers).toHaveLength(2);
	});

	test("may be JSON, with lists and maps", async () => {
		const { configuration } = await dryRun(withJson, []);
		expect(configuration.redirects.value).toBe("0:1");
		expect(configuration.signalsToHandle.value).toBe("TERM");
	});

	test("is not read where another is named", async () => {
		const { stderr, configuration } = await dryRun(withYaml, [
			"--config",
			"other.json",
		]);
		expect(stderr).toBe("");
		expect(configuration.role.value).toBe("default");
	});

	test("is refused where there are two", async () => {
		const result = await runCli(["--dry-run", "true"], { cwd: withBoth });
		expect(result.stderr).toBe(
			"elastic-run: both ./elastic-run.yaml and ./elastic-run.json are here; name one with --config\n",
		);
		expect(result.exitCode).toBe(2);
	});
});

describe("pass-through", () => {
	test.each([
		[["-h"], ["-h"]],
		[
			["--help", "--version"],
			["--help", "--version"],
		],
		[
			["--nproc-per-node", "4"],
			["--nproc-per-node", "4"],
		],
		[
			["--", "x"],
			["--", "x"],
		],
		[
			["-", "", "a b", "$HOME"],
			["-", "", "a b", "$HOME"],
		],
	])("true %j", async (args, passed) => {
		const result = await runLine(
			["--dry-run", "--output", "json", "true", ...args],
			{ cwd: empty },
		);
		expect(JSON.parse(result.stdout).workers[0].argv.slice(1)).toEqual(passed);
	});

	test("-- before the command", async () => {
		const result = await runCli(
			["--dry-run", "--output", "json", "--", "echo", "--help"],
			{ cwd: empty },
		);
		expect(JSON.parse(result.stdout).workers[0].argv.slice(1)).toEqual([
			"--help",
		]);
	});
});

describe("the dry run", () => {
	test("shows each worker's command and environment", async () => {
		const { workers } = await dryRun(empty, [
			"--nproc_per_node=2",
			"-r1",
			"-t",
			"0",
		]);
		expect(
			workers.map((worker: { environment: unknown }) => worker.environment),
		).toEqual([
			expect.objectContaining({
				RANK: "0",
				WORLD_SIZE: "2",
				MASTER_PORT: "(chosen at start)",
			}),
			expect.objectContaining({ RANK: "1", WORLD_SIZE: "2" }),
		]);
		expect(workers[0].cwd).toBe(empty);
		expect(workers[0].argv[0]).toMatch(/^\/.*\/true$/);
	});

	test("leaves open what other nodes decide", async () => {
		const { workers, configuration } = await dryRun(empty, [
			...["--nnodes", "2", "--nproc-per-node", "2"],
			...["--rdzv-endpoint", "etcd.invalid:2379"],
		]);
		expect(workers[1]).toMatchObject({
			rank: null,
			localRank: 1,
			environment: {
				RANK: "(chosen at start)",
				WORLD_SIZE: "(chosen at start)",
				MASTER_ADDR: "(chosen at start)",
				LOCAL_RANK: "1",
				LOCAL_WORLD_SIZE: "2",
			},
		});
		expect(configuration.localAddr).toEqual({
			value: null,
			origin: "detected at start",
		});
		expect(configuration.rdzvBackend.value).toBe("etcd");
	});

	test("hides secrets", async () => {
		const shown = await dryRun(empty, [], {
			MY_TOKEN: "hunter2",
			DATABASE_URL: "postgres://ann:hunter2@db/x",
			ELASTIC_RUN_RDZV_ENDPOINT: "etcd.invalid:2379",
			ELASTIC_RUN_RDZV_USERNAME: "ann",
			ELASTIC_RUN_RDZV_PASSWORD: "hunter2",
			HARMLESS: "1",
		});
		expect(JSON.stringify(shown)).not.toContain("hunter2");
		const { inheritedEnvironment } = shown;
		expect(inheritedEnvironment.HARMLESS).toBe("1");
	});

	test("in words shows one worker, and the settings that are not the defaults", async () => {
		const { stdout } = await runLine(
			[
				...["--dry-run", "--role", "a", "--nproc-per-node", "3"],
				...["sh", "-c", "exit 0"],
			],
			{ cwd: empty, env: { HARMLESS: "1" } },
		);
		expect(stdout).toMatch(/^ {2}role +a +flag$/m);
		expect(stdout).toMatch(/^ {2}dryRun +true +flag$/m);
		expect(stdout).not.toMatch(/ default$/m);
		expect(stdout).not.toContain("HARMLESS");
		expect(stdout).toMatch(/^ {2}\/.*\/sh -c 'exit 0'$/m);
		expect(stdout.match(/^ {4}RANK=\d$/gm)).toEqual(["    RANK=0"]);
		expect(stdout).toMatch(
			/^not shown: 2 more workers, \d+ settings left at the default, \d+ inherited variables; -v shows all$/m,
		);
	});

	test("in words with -v shows all workers, settings and what they inherit", async () => {
		const { stdout } = await runCli(
			["--dry-run", "-v", "--nproc-per-node", "3", "sh", "-c", "exit 0"],
			{ cwd: empty, env: { HARMLESS: "1" } },
		);
		const shown = stdout
			.match(/^ {2}\w+(?= .*\S$)/gm)
			?.map((key) => key.trim());
		expect(shown).toEqual(
			expect.arrayContaining(ALL_OPTIONS.map(({ key }) => key)),
		);
		expect(stdout).toMatch(/^ {2}noNode +false +default$/m);
		expect(stdout.match(/^ {4}RANK=\d$/gm)).toHaveLength(3);
		expect(stdout).toContain("    HARMLESS=1\n");
		expect(stdout).not.toContain("not shown");
	});

	test("inside a worker the launcher's own variables are not flags", async () => {
		const { configuration, stderr } = await dryRun(empty, [], {
			ELASTIC_RUN_CHANNEL: "/nowhere",
			ELASTIC_RUN_RUN_ID: "outer",
			ELASTIC_RUN_NODE_ID: "outer",
		});
		expect(configuration.runId.value).toMatch(/^true-[0-9a-f]{8}$/);
		expect(stderr).toBe("");
	});
});
