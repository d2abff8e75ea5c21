// What is imported ahead must find what it finds in a cold start: docs/warm-restarts.md.
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { poll } from "../helpers/etcd-gateway.js";
import { openSite } from "../helpers/launch.js";
import {
	childrenOf,
	isReady,
	order,
	parked,
	told,
	venvWith,
} from "../helpers/warm.js";

beforeEach(needPython);

/** Each of these libraries keeps something of the process that imports it. */
const LIBRARIES = {
	"sets.py": "import os\nos.environ['FROM_LIBRARY'] = 'yes'\n",
	"asks.py":
		"import os\nVALUE = os.environ.get('FROM_SCRIPT'), os.environ.get('FROM_LIBRARY')\n",
	"copies.py": "import os\nVALUE = os.environ.copy().get('RANK')\n",
	"opens.py": "import os\nFILE = open(os.environ['LINES'])\n",
	"writes.py":
		"import os\nFILE = open(os.environ['LINES'] + '.written', 'a')\n",
	"threads.py":
		"import threading, time\nTHREAD = threading.Thread(target=time.sleep, args=(600,), daemon=True)\nTHREAD.start()\n",
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
	// As tqdm, fsspec and filelock do.
	"prefix.py":
		"import os\nPID = os.getpid()\nVALUES = {k[5:]: v for k, v in os.environ.items() if k.startswith('TQDM_')}\n",
	"lists.py": `
import os
PID = os.getpid()
def read(variables):
    copy = dict(variables)
    return [copy[name] for name in copy if name.startswith("FSSPEC_")]
VALUES = read(os.environ)
`,
	"gone.py":
		"import os, tempfile\nPID = os.getpid()\nwith tempfile.TemporaryDirectory() as FOLDER:\n    open(FOLDER + '/x', 'w').close()\n",
	"counts.py":
		"import os\nPID = os.getpid()\nVALUE = sum(len(v) for k, v in os.environ.items() if k.startswith('LOCAL_'))\n",
	"presets.py":
		"import os\nPID = os.getpid()\nos.environ['FROM_PRESETS'] = 'on'\nRANK = os.environ['RANK']\n",
	"follows.py":
		"import os\nPID = os.getpid()\nVALUE = os.environ.get('FROM_PRESETS')\n",
	"flags.py":
		"import os\nPID = os.getpid()\nVALUE = os.environ.get('FLAG_OF_SCRIPT')\n",
	"forks.py":
		"import os, signal\nRANK = os.environ.get('RANK')\nCHILD = os.fork()\nif CHILD == 0:\n    signal.pause()\n",
	"quits.py":
		"import os, sys\nif '_elastic_run_warm' in sys.modules:\n    os._exit(7)\n",
	"needs.py": `
import os
import plain
try:
    import copies
except BaseException:
    copies = None
PID = os.getpid()
VALUE = copies.VALUE
`,
};

const SCRIPT = `
import json, os, sys, time
alone = [name for name in ("copies", "counts", "makes", "needs", "opens", "presets", "starts", "threads", "writes") if name in sys.modules]
here = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(here, "users"))
import keeps, makes, writes, threads, opens, needs, copies, plain, prefix, lists, gone, counts, starts, sets, uses, presets, follows, forks, quits
os.environ["FLAG_OF_SCRIPT"] = "false"
import flags
os.environ["FROM_SCRIPT"] = "yes"
import asks
import elastic_run
told = {"asks": asks.VALUE, "copies": copies.VALUE, "opens": opens.FILE.readline(), "makes": os.path.isdir(makes.FOLDER),
    "starts": starts.CHILD.poll(), "uses": uses.VALUE, "needs": needs.VALUE,
    "follows": follows.VALUE, "flags": flags.VALUE, "thread": threads.THREAD.is_alive(), "counts": counts.VALUE, "path": sys.path, "stream": type(sys.stdout).__name__}
print("one\\n", end="")
keeps.KEPT.write("two\\n")
print("three")
ahead = [m.__name__ for m in (counts, flags, follows, gone, lists, needs, plain, prefix, presets) if m.PID != os.getpid()]
print(json.dumps({"told": told, "ahead": ahead, "alone": alone}), flush=True)
elastic_run.report_progress(step=1)
while not os.path.exists(os.path.join(here, "order." + os.environ["ELASTIC_RUN_ROUND"])):
    time.sleep(0.01)
starts.CHILD.kill()
os.kill(forks.CHILD, 9)
sys.exit(3 if os.environ["ELASTIC_RUN_ROUND"] == "1" else 0)
`;

interface Told {
	readonly told: Readonly<Record<string, unknown>>;
	readonly ahead: readonly string[];
	/** What was imported for this worker alone. */
	readonly alone: readonly string[];
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
	const ahead = ["flags", "follows", "gone", "lists", "plain", "prefix"];
	const expected = [[], [], ahead, ahead];
	expect(lines.map((line) => line.ahead)).toEqual(expected);
	const alone = ["copies", "counts", "needs", "opens", "presets", "threads"];
	expect(lines.map((line) => line.alone)).toEqual([[], [], alone, alone]);
	const ranks = lines.map((line) => line.told.copies).sort();
	expect(ranks).toEqual(["0", "0", "1", "1"]);
	const needed = lines.map((line) => line.told.needs).sort();
	expect(needed).toEqual(ranks);
	for (const { told: one } of lines) {
		expect(one).toMatchObject({
			...{ asks: ["yes", "yes"], opens: "1\n", makes: true },
			...{ starts: null, uses: "users", stream: "Both" },
			...{ flags: "false", follows: "on", counts: 2, thread: true },
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
	for (const left of [
		/asks \(\d+\.\d s, imported after FROM_SCRIPT was changed\)/,
		/forks \(\d+\.\d s, it starts a process\)/,
		/quits \(\d+\.\d s, it ends its process\)/,
		/makes \(\d+\.\d s, it makes a temporary file\)/,
		/starts \(\d+\.\d s, it starts a process\)/,
		/writes \(\d+\.\d s, it leaves \/.*\.written open\)/,
		/uses \(\d+\.\d s, twin is another than the worker's\)/,
	]) {
		expect(stderr).toMatch(left);
	}
}, 120_000);

it("waits for no import that never ends in a process that waits", async () => {
	const site = openSite();
	const { python } = venvWith(site, {
		"hangs.py":
			"import os, sys, time\nif os.environ.get('RANK') and '_elastic_run_warm' in sys.modules:\n    time.sleep(3600)\n",
	});
	const text =
		"import sys, time, hangs, elastic_run\nelastic_run.report_progress(step=1)\nwhile True:\n    time.sleep(1)\n";
	writeFileSync(join(site.path, "train.py"), text);
	const launch = site.launch(["--warm", "auto", join(site.path, "train.py")], {
		env: { PYTHON_EXEC: python },
	});
	const helper = await isReady(launch);
	expect(childrenOf(helper)).toHaveLength(1);
}, 120_000);

it("is warm by default where imports take long, before the first step if that is late", async () => {
	const site = openSite();
	const { python } = venvWith(site, {
		// An import costs what passes until the next one begins.
		"heavy.py":
			"import time\nwhile time.thread_time() < 1.5:\n    pass\nimport colorsys\n",
	});
	const text =
		"import os, time, heavy\nif os.environ['ELASTIC_RUN_ROUND'] == '2':\n    os._exit(0)\nwhile not os.path.exists('order.1'):\n    time.sleep(0.01)\nos._exit(3)\n";
	writeFileSync(join(site.path, "train.py"), text);
	const launch = site.launch([join(site.path, "train.py")], {
		cwd: site.path,
		env: { PYTHON_EXEC: python },
	});
	await isReady(launch);
	order(site, 1, "exit");
	const { stderr, exitCode } = await launch.ended;
	expect(stderr).toContain("round 2: workers start warm");
	expect(exitCode).toBe(0);
}, 120_000);

it("makes and says nothing by default where imports are light", async () => {
	const site = openSite();
	const text =
		"import os, time, json, elastic_run\nelastic_run.report_progress(step=1)\nround = os.environ['ELASTIC_RUN_ROUND']\nwhile not os.path.exists('order.' + round):\n    time.sleep(0.01)\nos._exit(3 if round == '1' else 0)\n";
	writeFileSync(join(site.path, "train.py"), text);
	const runId = "light";
	const command = ["--rdzv-id", runId, join(site.path, "train.py")];
	const launch = site.launch(command, {
		cwd: site.path,
		env: { PYTHON_EXEC: PYTHON },
	});
	await poll("what it knows of its imports", 60_000, async () => {
		const { stdout } = await site.launch(["status", runId]).ended;
		return stdout.includes("its imports take less than a second") || undefined;
	});
	const started = readdirSync("/proc").filter((name) =>
		environmentOf(name).includes(`ELASTIC_RUN_HELPER_OF=${launch.pid}`),
	);
	expect(started).toEqual([]);
	order(site, 1, "exit");
	await launch.saw("stderr", "RUNNING round 2");
	order(site, 2, "end");
	const { stderr, exitCode } = await launch.ended;
	expect(stderr).not.toMatch(/warm|cold/);
	expect(exitCode).toBe(0);
}, 120_000);

function environmentOf(pid: string): string {
	try {
		return readFileSync(`/proc/${pid}/environ`, "utf8");
	} catch {
		return "";
	}
}
