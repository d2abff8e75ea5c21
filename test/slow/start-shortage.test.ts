import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import {
	job,
	type Launch,
	type LaunchSite,
	openSite,
} from "../helpers/launch.js";
import { asOtherUser, limit } from "../helpers/machine.js";
import { tell } from "../helpers/obedient-worker.js";
import { sideBySide } from "../helpers/this-test.js";

const etcd = etcdForAll();
sideBySide();

const ARGS = ["--nproc-per-node", "2", "--max-restarts", "1", job("obeys.sh")];

/** A worker has failed: its node lacks something until `restore`, and then goes on as if nothing were. */
async function goesOn(
	site: LaunchSite,
	launch: Launch,
	words: RegExp,
	restore: () => void,
): Promise<void> {
	await launch.saw("stderr", "is tried again in 0.5 s, for at most 20 s more");
	restore();
	for (const one of await site.sawWorkers(2, 2)) tell(one, 0);
	const { exitCode, stderr } = await launch.ended;
	expect(stderr).toMatch(words);
	expect(stderr).toMatch(/round 2: started [12] more/);
	expect(stderr).toContain("succeeded: 2 rounds");
	expect(exitCode).toBe(0);
}

it.concurrent("a node that may start no process for a while starts its workers when it may, and no failure is counted", async (context) => {
	const site = openSite();
	const through = asOtherUser(context, site.path);
	const launch = site.launch(ARGS, { through });
	const [worker] = await site.sawWorkers(2, 1);
	const restore = limit(through, launch.pid, "nproc", 1);
	if (worker) tell(worker, 3);
	const words = /as many processes as it may: raise ulimit -u/;
	await goesOn(site, launch, words, restore);
});

it.concurrent("a node that cannot start a process for 20 s leaves with 75, uncharged, and the others go on", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" }, context);
	const { site } = cluster;
	const through = asOtherUser(context, site.path);
	cluster.agent("node-a", { through });
	cluster.agent("node-b", { through });
	const members = await cluster.form("node-a", "node-b");

	limit(through, cluster.launchOf("node-b").pid, "nproc", 1);
	tell(cluster.worker(1, members.indexOf("node-a")), 1);
	const { "node-b": left } = await cluster.ends({ "node-b": 75 });
	expect(left?.stderr).toMatch(
		/rank \d cannot be started: .*raise ulimit -u.*\(tried again for 20 s\)/,
	);
	await cluster.world(3, "node-a");
	expect(await cluster.store.round()).toMatchObject({
		...{ incidents: 1, charged: 1 },
		cause: { reason: expect.stringContaining("node-b left: rank") },
	});
	cluster.succeed(3);
	await cluster.ends({ "node-a": 0 });
});
