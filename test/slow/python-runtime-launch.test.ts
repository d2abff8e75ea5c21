// The library as the package ships it, under the built command.
import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { cliHost } from "../helpers/cli-host.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";

beforeEach(needPython);

const runLine = cliHost();

const SCRIPT = fixture("asks.py");
const LIBRARY = fileURLToPath(new URL("../../dist/python", import.meta.url));
const FILE = join(LIBRARY, "elastic_run.py");
const HOOK = fileURLToPath(new URL("../../dist/python-hook", import.meta.url));

interface Answer {
	readonly rank: string;
	readonly place: readonly number[] | null;
	readonly library: string;
	readonly path: string | null;
	readonly arguments: readonly string[];
}

it("python-path names what PYTHONPATH needs", async () => {
	const site = openSite();
	const { exitCode, stdout, stderr } = await runLine(["python-path"], {
		cwd: site.path,
	});
	expect({ exitCode, stdout, stderr }).toEqual({
		exitCode: 0,
		stdout: `${LIBRARY}\n`,
		stderr: "",
	});
	const env = { PATH: process.env.PATH, PYTHONPATH: stdout.trim(), RANK: "3" };
	const answer = execFileSync(PYTHON, [SCRIPT], {
		cwd: site.path,
		env: { ...env, WORLD_SIZE: "4" },
		encoding: "utf8",
	});
	expect(JSON.parse(answer)).toMatchObject({ place: [3, 4, 1], library: FILE });
});

it("python-path takes flags only", async () => {
	const { path: cwd } = openSite();
	const { exitCode, stdout, stderr } = await runLine(["python-path", "here"], {
		cwd,
	});
	expect([exitCode, stdout]).toEqual([2, ""]);
	expect(stderr).toContain("it takes flags only; leave out here");
});

it("T3 a Python worker has the library without being told where it is", async () => {
	const site = openSite();
	const answers = await ask(site, ["--nproc-per-node", "2", SCRIPT, "--lr"]);
	expect(answers).toEqual(
		[0, 1].map((rank) => ({
			rank: String(rank),
			place: [rank, 2, 1],
			library: FILE,
			path: `${HOOK}:${LIBRARY}`,
			arguments: ["--lr"],
		})),
	);
});

it("and where the command is Python itself", async () => {
	const site = openSite();
	copyFileSync(SCRIPT, join(site.path, "asks.py"));
	const [answer] = await ask(site, ["python3", "-m", "asks"]);
	expect(answer).toMatchObject({ place: [0, 1, 1], library: FILE });
});

it("unless it is told not to", async () => {
	const site = openSite();
	const [answer] = await ask(site, ["--no-python-path", SCRIPT]);
	expect(answer).toMatchObject({
		place: null,
		library: "No module named 'elastic_run'",
		path: HOOK,
	});
});

it("the user's own modules come first", async () => {
	const site = openSite();
	const own = join(site.path, "own");
	mkdirSync(own);
	writeFileSync(join(own, "elastic_run.py"), "");
	const [answer] = await ask(site, [SCRIPT], { PYTHONPATH: own });
	expect(answer).toMatchObject({
		library: join(own, "elastic_run.py"),
		path: `${HOOK}:${own}:${LIBRARY}`,
	});
});

it("a Node worker keeps PYTHONPATH as it is", async () => {
	const site = openSite();
	const env = { PYTHONPATH: "/mine" };
	const launch = site.launch([job("exits-with.js")], { env });
	expect((await launch.ended).exitCode).toBe(0);
	expect(site.workers()[0]?.env.PYTHONPATH).toBe("/mine");
});

it.for([
	["as it is", {}, "0", `${HOOK}:${LIBRARY}`],
	["without it", { ELASTIC_RUN_NO_PYTHON_PATH: "1" }, "1", HOOK],
] as const)("the dry run shows the path %s", async ([, env, value, path]) => {
	const { path: cwd } = openSite();
	const { stdout } = await runLine(["--dry-run", "--output", "json", SCRIPT], {
		cwd,
		env,
	});
	expect(JSON.parse(stdout)).toMatchObject({
		configuration: { noPythonPath: { value } },
		workers: [{ environment: { PYTHONPATH: path } }],
	});
});

it("A5 a Python worker's error is in the report of its run", async () => {
	const site = openSite();
	const launch = site.launch(["--max-restarts", "0", fixture("fails.py")], {
		env: { PYTHON_EXEC: PYTHON },
	});
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain("error: ValueError: loss is nan");
	expect(stderr).toMatch(/fails\.py", line 5, in <module>/);
});

it("T11 a Python worker lives on while the one beside it is replaced", async () => {
	const site = openSite();
	const launch = site.launch(
		[
			...["--nproc-per-node", "2", "--restart-policy", "soft-replace"],
			...["--redirects", "0", "--tee", "0", fixture("survives.py")],
		],
		{ env: { PYTHON_EXEC: PYTHON } },
	);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout.trim().split("\n").sort()).toEqual(["[0, [1, 2]]", "[1, [2]]"]);
});

/** What workers answer, by rank. */
async function ask(
	site: LaunchSite,
	words: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Promise<readonly Answer[]> {
	const launch = site.launch(
		["--max-restarts", "0", "--redirects", "0", "--tee", "0", ...words],
		{ env: { PYTHON_EXEC: PYTHON, ...env } },
	);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	return stdout
		.trim()
		.split("\n")
		.map((line): Answer => JSON.parse(line))
		.sort((a, b) => Number(a.rank) - Number(b.rank));
}

function fixture(name: string): string {
	const url = new URL(`../fixtures/python/${name}`, import.meta.url);
	return join(dirname(fileURLToPath(url)), name);
}
