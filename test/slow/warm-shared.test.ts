// What workers import is shared through the store, so that a spare's first start is warm: docs/warm-restarts.md.
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { etcdForAll } from "../helpers/etcd.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { isReady } from "../helpers/warm.js";

const etcd = etcdForAll();

beforeEach(needPython);

/** Keeps its process over rounds. It ends when it is told to, and looks for events unless it is held. */
const SOFT = `
import gc, json, os, sys, time
import presets, connects, plain
import elastic_run
node = os.environ["ELASTIC_RUN_NODE_ID"]
info = elastic_run.get_worker_info()
def at(name): return os.path.join(sys.argv[1], name)
def tell():
    pid = os.getpid()
    told = {"isAhead": plain.PID != pid, "hasSocketAhead": connects.PID != pid, "isFrozen": gc.get_freeze_count() > 0}
    print(json.dumps({"node": node, "round": info.round, "pid": pid, **told}), flush=True)
tell()
step = 0
while True:
    step += 1
    elastic_run.report_progress(step=step)
    time.sleep(0.02)
    order = at("%s.%d" % (node, info.round))
    if os.path.exists(order):
        sys.exit(int(os.path.getsize(order)))
    if not os.path.exists(at("hold")) and elastic_run.get_worker_event().kind == "PAUSE":
        info = elastic_run.wait_for_work()
        tell()
`;

interface Told {
	readonly node: string;
	readonly round: number;
	readonly pid: number;
	/** Its modules were imported by another process. */
	readonly isAhead: boolean;
	/** And one that opens a socket at import. */
	readonly hasSocketAhead: boolean;
	/** The garbage collector leaves alone what was imported ahead. */
	readonly isFrozen: boolean;
}

it("under soft-replace replaces a failed worker by a warm one, keeps the others' processes, and starts a node warm that joins", async () => {
	const site = openSite();
	const at = (name: string) => join(site.path, name);
	mkdirSync(at("site-packages"));
	const library = (name: string, text: string) =>
		writeFileSync(at(`site-packages/${name}.py`), text);
	// As torch does. The list in the store does not say so.
	library("presets", "import os\nos.environ['FROM_PRESETS'] = 'on'\n");
	library("plain", "import os\nPID = os.getpid()\n");
	library(
		"connects",
		"import os, socket\nSOCKET = socket.socket()\nPID = os.getpid()\n",
	);
	writeFileSync(at("soft.py"), SOFT);
	const flags = ["--nnodes", "2:3", "--restart-policy", "soft-replace"];
	const start = (nodeId: string) =>
		agent(site, "warm-soft", nodeId, [...flags, at("soft.py"), site.path], {
			PYTHONPATH: at("site-packages"),
		});
	const a = start("node-a");
	const b = start("node-b");
	const keeps = await inRound(b, 1);
	const first = await inRound(a, 1);
	await isReady(a);
	// Written aside: a worker that finds it empty ends with 0.
	writeFileSync(at("order"), "exit 1");
	renameSync(at("order"), at("node-a.1"));
	const replaced = await inRound(a, 2);
	expect(await inRound(b, 2)).toEqual({ ...keeps, round: 2 });
	const warm = { isAhead: true, isFrozen: true, hasSocketAhead: false };
	expect(replaced).toMatchObject(warm);
	expect(first).toMatchObject({ isAhead: false, isFrozen: false });
	expect(a.output.stderr).toContain("round 2: workers start warm");

	writeFileSync(at("hold"), "");
	const c = start("node-c");
	await isReady(c);
	rmSync(at("hold"));
	expect(await inRound(c, 3)).toMatchObject(warm);
	expect(await inRound(b, 3)).toEqual({ ...keeps, round: 3 });
	for (const node of ["a", "b", "c"]) writeFileSync(at(`node-${node}.3`), "");
	for (const launch of [a, b, c]) {
		expect((await launch.ended).exitCode).toBe(0);
	}
}, 120_000);

it("starts cold where an import has read the number or rank of workers, and it is another now", async () => {
	const site = openSite();
	const at = (name: string) => join(site.path, name);
	mkdirSync(at("site-packages"));
	const reads =
		"import os\nSIZE = os.environ['WORLD_SIZE']\nRANK = os.environ['RANK']\n";
	writeFileSync(at("site-packages/reads.py"), reads);
	const script =
		"import os, reads, time, elastic_run\nelastic_run.report_progress(step=1)\nprint('world of ' + reads.SIZE, flush=True)\nwhile not os.path.exists('end'):\n    time.sleep(0.02)\n";
	writeFileSync(at("train.py"), script);
	const start = (nodeId: string) =>
		agent(site, "warm-size", nodeId, ["--nnodes", "1:2", at("train.py")], {
			PYTHONPATH: at("site-packages"),
		});
	const a = start("node-a");
	const b = start("node-b");
	await a.saw("stdout", "world of 2");
	await isReady(a);
	b.signal("SIGTERM");
	await a.saw("stdout", "world of 1");
	expect(a.output.stderr).toMatch(
		/workers start cold: (WORLD_SIZE|RANK) has another value/,
	);
	writeFileSync(at("end"), "");
	expect((await a.ended).exitCode).toBe(0);
}, 120_000);

function inRound({ output }: Launch, round: number): Promise<Told> {
	return waitFor(`a worker of round ${round}`, () =>
		[...output.stdout.matchAll(/\{.*\}$/gm)]
			.map(([line]): Told => JSON.parse(line))
			.find((one) => one.round === round),
	);
}

/** `command` may have flags before it. */
function agent(
	site: LaunchSite,
	runId: string,
	nodeId: string,
	command: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Launch {
	const meeting = ["--run-id", runId, "--rdzv-endpoint", etcd().endpoint];
	const conf = "settle_timeout=1,last_call_timeout=1,lease_ttl=60";
	return site.launch(
		[
			...["--warm", "auto", "--nnodes", "1", ...meeting],
			...["--rdzv-conf", conf, ...command],
		],
		{ env: { PYTHON_EXEC: PYTHON, ELASTIC_RUN_NODE_ID: nodeId, ...env } },
	);
}
