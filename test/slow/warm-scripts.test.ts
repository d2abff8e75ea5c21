// What scripts and libraries do at their import, under warm starts: docs/warm-restarts.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import { needPython } from "../fixtures/python/start-python.js";
import { type Launch, openSite } from "../helpers/launch.js";
import { isReady, order, told, venvWith } from "../helpers/warm.js";

beforeEach(needPython);

/** Libraries of a numeric kind: one looks at the number of threads, one must know of each fork. */
const LIBRARIES = {
	"plain.py": "import os\nPID = os.getpid()\n",
	"numeric.py": "import os\nTHREADS = os.environ.get('OMP_NUM_THREADS')\n",
	"counts.py": `
import os
FORKS = []
os.register_at_fork(before=lambda: FORKS.append("before"), after_in_child=lambda: FORKS.append("child"))
`,
};

/** Reads its arguments, opens a database, forks, sets a variable and changes its directory, all before its first step. */
const SCRIPT = `
import json, os, sqlite3, sys, time
orders, *ARGUMENTS = sys.argv[1:]
DATABASE = sqlite3.connect(os.path.join(os.path.dirname(orders), "steps.db"))
DATABASE.execute("create table if not exists rounds (round text)")
import counts, plain
os.environ["OMP_NUM_THREADS"] = "3"
os.chdir(os.path.join(os.path.dirname(orders), "data"))
import numeric
before = len(counts.FORKS)
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, json.dumps(counts.FORKS[before:]).encode())
    os._exit(0)
seen = json.loads(os.read(reader, 100))
_, ended = os.wait()
round = os.environ["ELASTIC_RUN_ROUND"]
with DATABASE:
    DATABASE.execute("insert into rounds values (?)", (round,))
rows = DATABASE.execute("select round from rounds order by round").fetchall()
import elastic_run
told = {"arguments": ARGUMENTS, "threads": numeric.THREADS, "cwd": os.getcwd(), "file": __file__, "seen": seen,
    "ended": ended}
print(json.dumps({"told": told, "rows": [row for (row,) in rows], "isAhead": plain.PID != os.getpid()}), flush=True)
elastic_run.report_progress(step=1)
while not os.path.exists(orders + "." + round):
    time.sleep(0.01)
sys.exit(3 if round == "1" else 0)
`;

interface Told {
	readonly told: Readonly<Record<string, unknown>>;
	readonly rows: readonly string[];
	readonly isAhead: boolean;
}

/** A run of this script, with these libraries in its environment. */
function startWith(
	script: string,
	libraries: Readonly<Record<string, string>>,
): { readonly launch: Launch; readonly site: ReturnType<typeof openSite> } {
	const site = openSite();
	const { python, folder } = venvWith(site, {});
	for (const [name, text] of Object.entries(libraries)) {
		const file = join(folder, name);
		mkdirSync(join(file, ".."), { recursive: true });
		writeFileSync(file, text);
	}
	mkdirSync(join(site.path, "data"));
	writeFileSync(join(site.path, "train.py"), script);
	const launch = site.launch(
		[
			...["--warm", "auto", "--max-restarts", "3"],
			...[join(site.path, "train.py"), join(site.path, "order"), "--lr", "1"],
		],
		{ env: { PYTHON_EXEC: python } },
	);
	return { launch, site };
}

it("finds its arguments, database, children, threads and directory as in a cold start", async () => {
	const { launch, site } = startWith(SCRIPT, LIBRARIES);
	await isReady(launch);
	order(site, 1, "exit");
	await launch.saw("stderr", "round 2: workers start warm");
	const [cold, warm] = await told<Told>(launch, 2);
	order(site, 2, "end");
	const { stderr, exitCode } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect([cold?.isAhead, warm?.isAhead]).toEqual([false, true]);
	expect([cold?.rows, warm?.rows]).toEqual([["1"], ["1", "2"]]);
	expect(cold?.told).toMatchObject({
		...{ arguments: ["--lr", "1"], threads: "3", ended: 0 },
		...{ cwd: join(site.path, "data"), seen: ["before", "child"] },
	});
	expect(warm?.told).toEqual(cold?.told);
}, 120_000);

/** Has made a step, and then does as it is told. */
const steps = (library: string) => `
import os, sys, time
import ${library}
import elastic_run
elastic_run.report_progress(step=1)
round = os.environ["ELASTIC_RUN_ROUND"]
while not os.path.exists(sys.argv[1] + "." + round):
    time.sleep(0.01)
sys.exit(3 if round == "1" else 0)
`;

const torch = (cuda: string) => ({
	"torch/__init__.py": "from torch import cuda\n",
	"torch/cuda.py": cuda,
});

describe("stays cold", () => {
	it.each([
		{
			words: "if an import has initialised an accelerator",
			libraries: torch("def is_initialized():\n    return True\n"),
			reason: "cuda is initialised by an import",
		},
		{
			words: "if an accelerator could not be used after a fork",
			libraries: torch(
				"import os\nPID = os.getpid()\ndef is_initialized():\n    return False\ndef _is_in_bad_fork():\n    return os.getpid() != PID\n",
			),
			reason: "an accelerator was used by an import",
		},
	])("$words", async ({ libraries, reason }) => {
		const { launch, site } = startWith(steps("torch"), libraries);
		await launch.saw("stderr", `restarts will be cold: ${reason}`);
		order(site, 1, "exit");
		await launch.saw("stderr", "round 2: workers start cold");
		order(site, 2, "end");
		expect((await launch.ended).exitCode).toBe(0);
	}, 120_000);
});
