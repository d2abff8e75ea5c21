// What is imported ahead must find what it finds in a cold start: docs/warm-restarts.md.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { needPython } from "../fixtures/python/start-python.js";
import { openSite } from "../helpers/launch.js";
import { isReady, order, parked, told, venvWith } from "../helpers/warm.js";

beforeEach(needPython);

/** Each of these libraries keeps something of the process that imports it. */
const LIBRARIES = {
	"sets.py": "import os\nos.environ['FROM_LIBRARY'] = 'yes'\n",
	"asks.py":
		"import os\nVALUE = os.environ.get('FROM_SCRIPT'), os.environ.get('FROM_LIBRARY')\n",
	"copies.py": "import os\nVALUE = os.environ.copy().get('RANK')\n",
	"opens.py": "import os\nFILE = open(os.environ['LINES'])\n",
	"makes.py":
		"import atexit, shutil, tempfile\nFOLDER = tempfile.mkdtemp()\natexit.register(shutil.rmtree, FOLDER)\n",
	"starts.py":
		"import subprocess\nCHILD = subprocess.Popen(['sleep', '600'], stdin=-3, stdout=-3, stderr=-3)\n",
	"keeps.py": `
import sys
KEPT = sys.stdout
class Both:
    def __getattr__(self, name):
        return getattr(KEPT, name)
sys.stdout = Both()
sys.path.append("/of/keeps")
`,
	"twin.py": "OF = 'library'\n",
	"uses.py": "import twin\nVALUE = twin.OF\n",
	"plain.py": "import os\nPID = os.getpid()\n",
};

const SCRIPT = `
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "users"))
import copies, keeps, makes, opens, plain, starts, sets, uses
os.environ["FROM_SCRIPT"] = "yes"
import asks
import elastic_run
told = {"asks": asks.VALUE, "copies": copies.VALUE, "opens": opens.FILE.readline(), "makes": os.path.isdir(makes.FOLDER),
    "starts": starts.CHILD.poll(), "uses": uses.VALUE, "path": sys.path, "stream": type(sys.stdout).__name__}
print("one\\n", end="")
keeps.KEPT.write("two\\n")
print("three")
print(json.dumps({"told": told, "isAhead": plain.PID != os.getpid()}), flush=True)
elastic_run.report_progress(step=1)
while not os.path.exists(os.path.join(here, "order." + os.environ["ELASTIC_RUN_ROUND"])):
    time.sleep(0.01)
starts.CHILD.kill()
sys.exit(3 if os.environ["ELASTIC_RUN_ROUND"] == "1" else 0)
`;

interface Told {
	readonly told: Readonly<Record<string, unknown>>;
	readonly isAhead: boolean;
}

it("imports only what is the same as if each worker had imported it", async () => {
	const site = openSite();
	const { python } = venvWith(site, LIBRARIES);
	mkdirSync(join(site.path, "users"));
	writeFileSync(join(site.path, "users", "twin.py"), "OF = 'users'\n");
	writeFileSync(join(site.path, "lines"), "1\n2\n3\n4\n");
	writeFileSync(join(site.path, "train.py"), SCRIPT);
	const launch = site.launch(
		[
			...["--warm", "auto", "--nproc-per-node", "2", "--max-restarts", "3"],
			join(site.path, "train.py"),
		],
		{ env: { PYTHON_EXEC: python, LINES: join(site.path, "lines") } },
	);
	const helper = await isReady(launch);
	await parked(helper, 2);
	order(site, 1, "exit");
	await launch.saw("stderr", "round 2: workers start warm");
	const lines = await told<Told>(launch, 4);
	order(site, 2, "end");
	const { stdout, stderr, exitCode } = await launch.ended;
	expect(exitCode).toBe(0);
	expect(lines.map((line) => line.isAhead)).toEqual([false, false, true, true]);
	const ranks = lines.map((line) => line.told.copies).sort();
	expect(ranks).toEqual(["0", "0", "1", "1"]);
	for (const { told: one } of lines) {
		expect(one).toMatchObject({
			...{ asks: ["yes", "yes"], opens: "1\n", makes: true },
			...{ starts: null, uses: "users", stream: "Both" },
		});
		expect(one.path).toEqual(lines[0]?.told.path);
	}
	// Each rank writes through both names of the stream, in order.
	for (const rank of ["0", "1"]) {
		const words = stdout.match(
			new RegExp(`(?<= ${rank}\\] )(one|two|three)$`, "gm"),
		);
		expect(words).toEqual(["one", "two", "three", "one", "two", "three"]);
	}
	expect(stderr).toMatch(
		/others were not, because the script sets FROM_SCRIPT/,
	);
}, 120_000);
