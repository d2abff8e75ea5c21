import { expect, it } from "vitest";
import type { RunDocument } from "../../src/status/run-document.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { sideBySide } from "../helpers/this-test.js";

const etcd = etcdForAll();
sideBySide();

it.concurrent("J21: status --watch says each change in one line, to the end of the run", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	cluster.agent("node-a");
	await cluster.store.sawNode("node-a", "ready");
	const { runId } = cluster.store;
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const watch = (...args: string[]) =>
		cluster.site.launch(["status", runId, "--watch", ...at, ...args]);
	const text = watch();
	const json = watch("--output", "json");
	const waits = `run ${runId}: waiting for 1 more node (at least 2): node-a is here\n`;
	await text.saw("stdout", waits);
	await json.saw("stdout", '"phase":"forming"');
	const [first, second] = await cluster.form("node-a", "node-b");
	const runs = (round: number) =>
		`run ${runId}: round ${round} runs: 2 workers on 2 nodes\n`;
	await text.saw("stdout", runs(1));
	tell(cluster.worker(1, 0), 1);
	await cluster.world(2, first, second);
	await text.saw("stdout", runs(2));
	cluster.succeed(2);
	await cluster.ends({ [first]: 0, [second]: 0 });
	const { exitCode, stdout } = await text.ended;
	expect(exitCode).toBe(0);
	const lines = stdout.trimEnd().split("\n");
	expect(lines.at(-1)).toMatch(
		/^\d\d:\d\d:\d\d run .*: succeeded: all nodes have finished$/,
	);
	expect(lines.filter((line) => waits.startsWith(line.slice(9)))).toHaveLength(
		1,
	);
	const told: RunDocument[] = (await json.ended).stdout
		.trimEnd()
		.split("\n")
		.map((line) => JSON.parse(line));
	expect(told[0]).toMatchObject({ runId, phase: "forming", round: 0 });
	expect(told.at(-1)).toMatchObject({ phase: "ended", round: 2 });
});

it.concurrent("status --watch waits for a run that is not there yet, and says so once", async () => {
	const site = openSite();
	const watch = site.launch(["status", "later", "--watch"]);
	await watch.saw("stderr", "there is no run later on this machine");
	const launch = site.launch(["--run-id", "later", job("obeys.sh")]);
	await watch.saw("stdout", "run later: round 1 runs: 1 worker on 1 node\n");
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await watch.ended;
	expect(exitCode).toBe(0);
	expect(stderr.match(/waiting for it/g)).toHaveLength(1);
});
