// What workers import is shared through the store, so that a spare's first start is warm: docs/warm-restarts.md.
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, expect, it } from "vitest";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { etcdForAll } from "../helpers/etcd.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";

const etcd = etcdForAll();

beforeEach(needPython);

/** Its steps are only in its output; it imports more after the first. */
const TRAIN = `
import os, sys, time
print("step 1", flush=True)
print("ahead", "xml.dom.minidom" in sys.modules, flush=True)
import xml.dom.minidom
step = 1
while not os.path.exists(sys.argv[1]):
    step += 1
    print("step", step, flush=True)
    time.sleep(0.05)
`;

it("starts warm on a spare, for a script whose steps are only in its output", async () => {
	const site = openSite();
	const script = join(site.path, "train.py");
	writeFileSync(script, TRAIN);
	const done = join(site.path, "done");
	const first = agent(site, "node-a", [script, done]);
	await first.saw("stdout", "ahead False");
	const spare = agent(site, "node-b", [script, done]);
	await spare.saw("stderr", "this node is a spare");
	await spare.saw("stderr", "restarts will be warm");
	first.signal("SIGTERM");
	await spare.saw("stderr", "workers start warm");
	await spare.saw("stdout", "ahead True");
	writeFileSync(done, "");
	expect((await spare.ended).exitCode).toBe(0);
}, 120_000);

function agent(
	site: LaunchSite,
	nodeId: string,
	command: readonly string[],
): Launch {
	const meeting = ["--run-id", "warm-shared", "--rdzv-endpoint"];
	const conf = ["--rdzv-conf", "settle_timeout=1"];
	return site.launch(
		[
			...["--warm", "auto", "--nnodes", "1", ...meeting, etcd().endpoint],
			...[...conf, ...command],
		],
		{ env: { PYTHON_EXEC: PYTHON, ELASTIC_RUN_NODE_ID: nodeId } },
	);
}
