// The library for Python as a package: the wheel that npm's package brings, and its types.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it, type TestContext } from "vitest";
import { buildWheel } from "../../scripts/build-wheel.js";
import {
	LIBRARY,
	needPython,
	PYTHON,
} from "../fixtures/python/start-python.js";
import { runCli } from "../helpers/cli.js";
import { ROOT } from "../helpers/import-graph.js";
import { openSite } from "../helpers/launch.js";

beforeEach(needPython);

const ENVIRONMENT = { PATH: process.env.PATH, RANK: "3", WORLD_SIZE: "4" };

const TYPES = {
	listener: true,
	change: true,
	hinted: expect.arrayContaining(["WorkerEvent", "record", "worker_events"]),
	state: [true, true],
	words: ["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
	printed: ["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
};

it("the wheel has the version of npm's package, and the same bytes each time", () => {
	const { path } = openSite();
	buildWheel(LIBRARY, join(path, "one"));
	buildWheel(LIBRARY, join(path, "other"));
	const { version } = JSON.parse(
		readFileSync(join(ROOT, "package.json"), "utf8"),
	);
	const name = `elastic_run-${version}-py3-none-any.whl`;
	expect(readdirSync(join(path, "one"))).toEqual([name]);
	const [one, other] = ["one", "other"].map((folder) =>
		readFileSync(join(path, folder, name)),
	);
	expect(one?.equals(other ?? Buffer.alloc(0))).toBe(true);
	expect(one?.equals(readFileSync(join(ROOT, "dist/python-wheel", name)))).toBe(
		true,
	);
});

it("pip installs the wheel that python-path names, without a network", async (context) => {
	const { path: cwd } = openSite();
	const { exitCode, stdout } = await runCli(["python-path", "--wheel"], {
		cwd,
	});
	expect(exitCode).toBe(0);
	const made = spawnSync(PYTHON, ["-m", "venv", join(cwd, "venv")]);
	if (made.status !== 0) context.skip(`${PYTHON} has no venv or no pip`);
	const python = join(cwd, "venv/bin/python");
	const pip = ["-m", "pip", "install", "--no-index", "--no-deps"];
	execFileSync(python, [...pip, "--no-cache-dir", stdout.trim()], {
		env: { PATH: process.env.PATH, PIP_DISABLE_PIP_VERSION_CHECK: "1" },
		stdio: "pipe",
	});
	const told = execFileSync(python, [fixture("asks_types.py")], {
		env: ENVIRONMENT,
		encoding: "utf8",
	});
	const file = expect.stringMatching(
		/site-packages\/elastic_run\/__init__\.py$/,
	);
	expect(JSON.parse(told)).toMatchObject({ ...TYPES, file });
	const marker = readdirSync(join(JSON.parse(told).file, ".."));
	expect(marker).toContain("py.typed");
	const checked = spawnSync(python, ["-m", "pip", "check"]);
	expect(checked.status).toBe(0);
});

it("mypy --strict accepts the library and a user's script", (context) => {
	const { path } = openSite();
	expect(mypy(context, path, fixture("typed.py"))).toMatch(/^Success/);
	const library = join(LIBRARY, "elastic_run");
	expect(mypy(context, path, library)).toMatch(/^Success/);
});

/** What `mypy --strict` says of a file; the test is skipped where there is no mypy. */
function mypy(context: TestContext, directory: string, file: string): string {
	const { stdout, error } = spawnSync(
		"mypy",
		["--strict", "--cache-dir", join(directory, "cache"), file],
		{
			cwd: directory,
			env: { PATH: process.env.PATH, MYPYPATH: LIBRARY },
			encoding: "utf8",
		},
	);
	if (error)
		context.skip("there is no mypy: apt-get install mypy, or pip install mypy");
	return stdout;
}

function fixture(name: string): string {
	return join(ROOT, "test/fixtures/python", name);
}
