// The library as the package ships it, under the built command.
import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { cliHost } from "../helpers/cli-host.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";

beforeEach(needPython);

const runLine = cliHost();

const SCRIPT = fixture("asks.py");
const LIBRARY = fileURLToPath(new URL("../../dist/python", import.meta.url));
const FILE = join(LIBRARY, "elastic_run/__init__.py");
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
