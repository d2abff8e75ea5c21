// Where settings come from, as a dry run and `validate` show them.
import {
	chmodSync,
	chownSync,
	existsSync,
	mkdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, test } from "vitest";
import { ALL_OPTIONS } from "../../src/config/options.js";
import { runCli } from "../helpers/cli.js";
import { cliHost } from "../helpers/cli-host.js";
import { temporaryFolder } from "../helpers/processes.js";

type Texts = Readonly<Record<string, string>>;

const NOBODY = 65_534;

const folder = temporaryFolder();
afterAll(() => folder.remove());
const runLine = cliHost();

function directory(name: string, files: Texts = {}, mode = 0o755): string {
	const path = join(folder.path, name);
	mkdirSync(path);
	for (const [file, content] of Object.entries(files)) {
		writeFileSync(join(path, file), content, { mode: 0o644 });
	}
	chmodSync(path, mode);
	return path;
}

const empty = directory("empty");
const withYaml = directory("yaml", {
	"elastic-run.yaml": "maxRestarts: 7\nrole: from-file\nnproc-per-node: 2\n",
	"other.json":
		'{ "maxRestarts": 8, "redirects": { "0": 1 }, "signalsToHandle": ["TERM"] }',
});
const withBad = directory("bad", {
	"bad.yaml": "maxRestart: 3\nnnodes: true\n",
	"run.yaml": "maxRestarts: 7\nnnodes: 2:4\n",
	"train.js": "",
});
const withBoth = directory("both", {
	"elastic-run.yaml": "tee: 0",
	"elastic-run.json": "{}",
});

async function dryRun(cwd: string, args: readonly string[], env: Texts = {}) {
	const line = ["--dry-run", "--output", "json", ...args, "true"];
	const result = await runLine(line, { cwd, env });
	expect(result.exitCode).toBe(0);
	return { ...JSON.parse(result.stdout), stderr: result.stderr };
}

test("a flag goes before a variable, that before torchrun's, that before the config file, and that before the default", async () => {
	const own = { ELASTIC_RUN_MAX_RESTARTS: "5" };
	const torchruns = { PET_MAX_RESTARTS: "6" };
	const flags = ["--max-restarts", "4", "--max_restarts=3"];
	const rows: [string, string[], Texts, string, string][] = [
		[withYaml, flags, own, "3", "flag"],
		[
			withYaml,
			[],
			{ ...own, ...torchruns },
			"5",
			"environment ELASTIC_RUN_MAX_RESTARTS",
		],
		[withYaml, [], torchruns, "6", "environment PET_MAX_RESTARTS"],
		[withYaml, [], { ELASTIC_RUN_MAX_RESTARTS: "" }, "7", "./elastic-run.yaml"],
		[withYaml, ["--config", "other.json"], {}, "8", "other.json"],
		[withYaml, [], { ELASTIC_RUN_CONFIG: "other.json" }, "8", "other.json"],
		[empty, [], {}, "3", "default"],
	];
	for (const [cwd, args, env, value, origin] of rows) {
		const { configuration } = await dryRun(cwd, args, env);
		expect(configuration.maxRestarts).toEqual({ value, origin });
	}
});

describe("a config file in the working directory", () => {
	test("is announced, and not read where another is named, which may be JSON", async () => {
		const { stderr, workers } = await dryRun(withYaml, []);
		expect(stderr).toBe(
			"elastic-run: settings are read from ./elastic-run.yaml\n",
		);
		expect(workers).toHaveLength(2);
		const other = await dryRun(withYaml, ["--config", "other.json"]);
		expect(other.stderr).toBe("");
		expect(other.configuration).toMatchObject({
			role: { value: "default" },
			redirects: { value: "0:1" },
			signalsToHandle: { value: "TERM" },
		});
	});

	test("is refused where there are two", async () => {
		const result = await runCli(["--dry-run", "true"], { cwd: withBoth });
		expect(result.stderr).toBe(
			"elastic-run: both ./elastic-run.yaml and ./elastic-run.json are here; name one with --config\n",
		);
		expect(result.exitCode).toBe(2);
	});
});

describe("a config file that others may have written", () => {
	const PLANTED = { "elastic-run.yaml": "role: planted\n" };
	const open = directory("open", PLANTED, 0o777);
	const openFile = directory("open-file", PLANTED);
	chmodSync(join(openFile, "elastic-run.yaml"), 0o666);
	const linked = directory("linked");
	symlinkSync(join(open, "elastic-run.yaml"), join(linked, "elastic-run.yaml"));
	const linkInOpen = directory("link-in-open", {}, 0o777);
	const closed = directory("closed", PLANTED);
	symlinkSync(
		join(closed, "elastic-run.yaml"),
		join(linkInOpen, "elastic-run.yaml"),
	);
	const inOpen = `every user may write its directory ${open} (mode 0777)`;

	test.each([
		["in a directory that all may write", open, inOpen],
		["that all may write", openFile, "every user may write it (mode 0666)"],
		["behind a link, in such a directory", linked, inOpen],
		[
			"behind a link that lies in such a directory",
			linkInOpen,
			`every user may write its directory ${linkInOpen} (mode 0777)`,
		],
	])("%s is named and not read", async (_, cwd, why) => {
		const words = `elastic-run: ./elastic-run.yaml is not read: ${why}; if its settings are yours, use --config ./elastic-run.yaml\n`;
		for (const line of [["--dry-run"], ["validate"]]) {
			const args = [...line, "--output", "json", "true"];
			const { stdout, stderr } = await runLine(args, { cwd });
			expect(stderr).toBe(words);
			expect(JSON.parse(stdout).configuration.role.value).toBe("default");
		}
		const { stderr } = await runLine(["status"], { cwd });
		expect(stderr).toContain(words);
	});

	test("is named by a launch, too, and read where it is named", async () => {
		const { stderr } = await runCli(["sh", "-c", "exit 0"], { cwd: open });
		expect(stderr).toContain("./elastic-run.yaml is not read: every user");
		const named = await dryRun(open, ["--config", "./elastic-run.yaml"]);
		expect(named.configuration.role.value).toBe("planted");
	});

	test.runIf(process.getuid?.() === 0)("is another user's", async () => {
		const owned = directory("owned", PLANTED);
		chownSync(join(owned, "elastic-run.yaml"), NOBODY, NOBODY);
		const around = directory("around", PLANTED);
		chownSync(around, NOBODY, NOBODY);
		for (const [cwd, what] of [
			[owned, "it belongs to user 65534"],
			[around, `its directory ${around} belongs to user 65534`],
		] as const) {
			const { stderr, configuration } = await dryRun(cwd, []);
			expect(stderr).toContain(`./elastic-run.yaml is not read: ${what};`);
			expect(configuration.role.value).toBe("default");
		}
	});

	test("leaves the one of two that nobody else may write", async () => {
		const json = { "elastic-run.json": '{ "role": "mine" }' };
		const two = directory("two", { ...PLANTED, ...json });
		chmodSync(join(two, "elastic-run.yaml"), 0o666);
		const { stderr, configuration } = await dryRun(two, []);
		expect(stderr).toContain("settings are read from ./elastic-run.json\n");
		expect(stderr).toContain("./elastic-run.yaml is not read");
		expect(configuration.role.value).toBe("mine");
	});

	test.each([
		["a link to nothing", (path: string) => symlinkSync("/nowhere", path)],
		["no file", (path: string) => mkdirSync(path)],
	])("is %s: named and not read", async (what, make) => {
		const cwd = directory(what.replaceAll(" ", "-"));
		make(join(cwd, "elastic-run.yaml"));
		const { stderr } = await dryRun(cwd, []);
		expect(stderr).toBe(
			`elastic-run: ./elastic-run.yaml is not read: it is ${what}\n`,
		);
	});
});

describe("the dry run", () => {
	test("shows each worker's command, which gets all arguments as they are, and its environment", async () => {
		const passed = ["-", "", "a b", "$HOME", "--", "--help", "--tee", "0"];
		const flags = ["--dry-run", "--output", "json", "--nproc_per_node=2"];
		const result = await runLine([...flags, "true", ...passed], { cwd: empty });
		const { workers } = JSON.parse(result.stdout);
		expect(workers).toEqual([
			expect.objectContaining({
				cwd: empty,
				argv: [expect.stringMatching(/^\/.*\/true$/), ...passed],
				environment: expect.objectContaining({
					RANK: "0",
					WORLD_SIZE: "2",
					MASTER_PORT: "(chosen at start)",
				}),
			}),
			expect.objectContaining({
				environment: expect.objectContaining({ RANK: "1", WORLD_SIZE: "2" }),
			}),
		]);
	});

	test("takes what follows -- as the command", async () => {
		const line = ["--dry-run", "--output", "json", "--", "echo", "--help"];
		const { stdout } = await runCli(line, { cwd: empty });
		expect(JSON.parse(stdout).workers[0].argv.slice(1)).toEqual(["--help"]);
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
				MASTER_ADDR: "(chosen at start)",
				LOCAL_RANK: "1",
				LOCAL_WORLD_SIZE: "2",
			},
		});
		expect(configuration.localAddr.origin).toBe("detected at start");
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
		expect(shown.inheritedEnvironment.HARMLESS).toBe("1");
	});

	test("in words shows one worker, and the settings that are not the defaults; -v shows all", async () => {
		const line = ["--dry-run", "--role", "a", "--nproc-per-node", "3"];
		const command = ["sh", "-c", "exit 0"];
		const options = { cwd: empty, env: { HARMLESS: "1" } };
		const { stdout } = await runLine([...line, ...command], options);
		expect(stdout).toMatch(/^ {2}role +a +flag$/m);
		expect(stdout).not.toMatch(/ default$/m);
		expect(stdout).not.toContain("HARMLESS");
		expect(stdout).toMatch(/^ {2}\/.*\/sh -c 'exit 0'$/m);
		expect(stdout.match(/^ {4}RANK=\d$/gm)).toEqual(["    RANK=0"]);
		expect(stdout).toMatch(
			/^not shown: 2 more workers, \d+ settings left at the default, \d+ inherited variables; -v shows all$/m,
		);
		const all = await runLine([...line, "-v", ...command], options);
		const shown = all.stdout.match(/^ {2}\w+(?= .*\S$)/gm);
		expect(shown?.map((key) => key.trim())).toEqual(
			expect.arrayContaining(ALL_OPTIONS.map(({ key }) => key)),
		);
		expect(all.stdout.match(/^ {4}RANK=\d$/gm)).toHaveLength(3);
		expect(all.stdout).toContain("    HARMLESS=1\n");
		expect(all.stdout).not.toContain("not shown");
	});

	test("inside a worker takes none of the launcher's own variables for flags", async () => {
		const { configuration, stderr } = await dryRun(empty, [], {
			ELASTIC_RUN_CHANNEL: "/nowhere",
			ELASTIC_RUN_RUN_ID: "outer",
			ELASTIC_RUN_NODE_ID: "outer",
		});
		expect(configuration.runId.value).toMatch(/^true-[0-9a-f]{8}$/);
		expect(stderr).toBe("");
	});
});

describe("validate", () => {
	test.each([
		[
			["--nproc-per-noed", "4", "--nnodes", "3:1", "--tee", "9", "nosuch.js"],
			{},
			4,
		],
		[["--config", "bad.yaml", "--role", "a b", "train.js"], {}, 3],
		[["train.js"], { ELASTIC_RUN_MAX_RESTARTS: "x", ELASTIC_RUN_TEE: "9" }, 2],
	] as const)("J18 %j %j says what a launch says, one line each, and exits with 2", async (args, env, count) => {
		const options = { cwd: withBad, env };
		const launch = await runLine(args, options);
		const { exitCode, stdout, stderr } = await runLine(
			["validate", ...args],
			options,
		);
		expect([exitCode, stdout, stderr]).toEqual([2, "", launch.stderr]);
		expect(stderr.trimEnd().split("\n")).toHaveLength(count);
		const json = ["validate", "--output", "json", ...args];
		const problems = stderr.trimEnd().replaceAll("elastic-run: ", "");
		expect(JSON.parse((await runLine(json, options)).stdout)).toMatchObject({
			ok: false,
			problems: problems.split("\n"),
			configuration: null,
		});
	});

	test("J18 shows what would be in force as a dry run does, and starts nothing", async () => {
		const env = { ELASTIC_RUN_ROLE: "trainer", ELASTIC_RUN_ROLEE: "x" };
		const mark = join(withBad, "started");
		const flags = ["--output", "json", "--rdzv-endpoint", "127.0.0.1:1"];
		const args = [...flags, "--config", "run.yaml", "touch", mark];
		const options = { cwd: withBad, env };
		const validated = await runCli(["validate", ...args], options);
		const dry = await runCli(["--dry-run", ...args], options);
		expect([validated.exitCode, dry.exitCode]).toEqual([0, 0]);
		expect(existsSync(mark)).toBe(false);
		const { dryRun: _, ...configuration } = JSON.parse(
			dry.stdout,
		).configuration;
		expect(JSON.parse(validated.stdout)).toEqual({
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
	});

	test("J18 needs no script: a config file alone can be checked", async () => {
		const { exitCode, stdout } = await runLine(["validate"], { cwd: withYaml });
		expect(exitCode).toBe(0);
		expect(stdout).toMatch(/^ {2}maxRestarts +7 +\.\/elastic-run\.yaml$/m);
		expect(stdout).toMatch(/^ {2}runId +- +derived from the command$/m);
	});

	test("J18 --explain says which rule or policy would decide, and what follows", async () => {
		const rule = "exit=137,uptime<30s => replace-node";
		const ask = (facts: string, ...flags: string[]) => {
			const line = ["validate", "--rule", rule, ...flags, "--explain", facts];
			return runLine(line, { cwd: empty });
		};
		expect(await ask("exit=137,role=trainer,uptime=12s")).toMatchObject({
			exitCode: 0,
			stdout: `rule 1 (${rule}) decides: this node leaves the run, which continues elsewhere (exit code 75); charged: nothing\n`,
		});
		const byPolicy = await ask("exit=137", "--restart-policy", "soft");
		expect(byPolicy.stdout).toMatch(
			/^policy soft decides: .*budget of the node/,
		);
	});
});
