// The library for Python as a package: the wheel that npm's package brings.
import { execFileSync, spawnSync } from "node:child_process";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
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
	modules: ["elastic_run"],
	pickled: true,
	listener: true,
	change: true,
	hinted: expect.arrayContaining(["WorkerEvent", "record", "worker_events"]),
	state: [true, true],
	words: ["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
	printed: ["HEALTHY", "PAUSED", "SCALE_UP", "SCALE_DOWN"],
};

it("library and wheel have the version of npm's package; the wheel has the same bytes each time", () => {
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
	const shipped = join(ROOT, "dist/python-wheel", name);
	expect(one?.equals(readFileSync(shipped))).toBe(true);
	// A wheel is an archive, from which Python imports too.
	for (const place of [LIBRARY, shipped]) {
		const said = execFileSync(PYTHON, ["-S", "-B", "-c", IMPORTED], {
			env: { ...ENVIRONMENT, PYTHONPATH: place },
			encoding: "utf8",
		});
		expect(said.trim()).toBe(`${version} []`);
	}
});

/** Its version, and what takes long to import and comes with it. */
const IMPORTED = `
import elastic_run, sys
slow = "ctypes dataclasses inspect json re subprocess traceback typing".split()
print(elastic_run.__version__, [name for name in slow if name in sys.modules])`;

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

function fixture(name: string): string {
	return join(ROOT, "test/fixtures/python", name);
}
