import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

// Workers whose end comes too late for the round that follows a PAUSE, because only a listener has
// acknowledged it: the others are paused for it, and may be as late themselves.

const etcd = etcdForAll();

const onNode = (nodeId: string) => ({ ELASTIC_RUN_NODE_ID: nodeId });

const alone = (mode: string, ...flags: readonly string[]) => [
	...["--restart-policy", "soft-replace", "--nproc-per-node", "2", ...flags],
	...[job("follows.js"), mode],
];

it.concurrent("T14 J10 workers that save at PAUSE, and exit with 0 when the next round runs, start one another once, not for ever", async (context) => {
	const flags = ["--restart-policy", "soft"];
	const worker = ["follows.js", "hears"] as const;
	const cluster = new Cluster(etcd(), { nodes: "1:3", flags, worker }, context);
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const ofNode = (round: number, nodeId: string) =>
		cluster.site.sawWorker(round, onNode(nodeId));
	const bothRun = (round: number) =>
		Promise.all(
			[first, second].map((nodeId) =>
				cluster.store.sawNode(nodeId, "running", round),
			),
		);
	const [ofFirst, ofSecond] = [await ofNode(1, first), await ofNode(1, second)];
	await cluster.vanish(third);
	await bothRun(2);
	tell(ofFirst, 0);
	const nextOfFirst = await ofNode(3, first);
	await bothRun(3);
	const why = `${first} asks for a new round: rank 0 `;
	await cluster.launchOf(second).saw("stderr", why);
	tell(ofSecond, 0);
	await cluster.launchOf(first).saw("stderr", "ended at PAUSE");
	tell(nextOfFirst, 0);
	for (const nodeId of [first, second]) tell(await ofNode(4, nodeId), 0);
	await cluster.ends({ [first]: 0, [second]: 0 });
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 4, incidents: 0 });
});

it.concurrent("T14 J10 who waits for its paused worker longer than the settle time is in the next round all the same", async (context) => {
	const cluster = new Cluster(
		etcd(),
		{
			nodes: "1:3",
			conf: { settle_timeout: 1 },
			flags: ["--restart-policy", "soft", "--pause-timeout", "12s"],
			worker: ["follows.js", "hears"],
		},
		context,
	);
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const late = await cluster.site.sawWorker(1, onNode(first));
	await cluster.vanish(third);
	for (const nodeId of [first, second]) {
		await cluster.store.sawNode(nodeId, "running", 2);
	}
	tell(late, 0);
	await cluster.site.sawWorker(3, onNode(first));
	await cluster.store.sawNode(second, "running", 3);
	cluster.agent(third);
	expect(await cluster.store.sawMembers(4)).toEqual([first, second, third]);
	await cluster.launchOf(second).saw("stderr", `waiting for ${first}`);
	const ended = [first, second, third].map((nodeId) => {
		cluster.launchOf(nodeId).signal("SIGTERM");
		return [nodeId, 143] as const;
	});
	await cluster.ends(Object.fromEntries(ended));
});

it.concurrent("T16 workers that exit with 1 before they have left the round, on both nodes: one failure, charged once; a second one in the same place is charged", async (context) => {
	const flags = ["--restart-policy", "soft", "--max-restarts", "1"];
	const worker = ["follows.js", "hears"] as const;
	const cluster = new Cluster(etcd(), { nodes: "2", flags, worker }, context);
	const [first, second] = await cluster.form("node-a", "node-b");
	const ofNode = (round: number, nodeId: string) =>
		cluster.site.sawWorker(round, onNode(nodeId));
	const late = await ofNode(1, second);
	tell(await ofNode(1, first), 9);
	const follows = await ofNode(2, first);
	await cluster.store.sawNode(second, "running", 2);
	tell(late, 1);
	const lateAgain = await ofNode(3, second);
	await cluster.store.sawNode(first, "running", 3);
	tell(follows, 1);
	await ofNode(4, first);
	await cluster.store.sawNode(second, "running", 4);
	expect(await cluster.store.round()).toMatchObject({ incidents: 1 });
	tell(lateAgain, 1);
	await ofNode(5, second);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 5, incidents: 2 });
	await cluster.stop();
});

it.concurrent("T14 workers that never receive an event start one another once, not for ever", async () => {
	const site = openSite();
	const launch = site.launch(alone("hello", "--pause-timeout", "2s"));
	const [fails] = await site.sawWorkers(2, 1);
	if (fails === undefined) throw new Error("no worker");
	tell(fails, 9);
	const round = await waitFor("a round in which both are fresh", () => {
		const started = /round ([2-9]\d*): started 2 of 2/;
		return started.exec(launch.output.stderr)?.[1];
	});
	for (const worker of await site.sawWorkers(2, Number(round))) tell(worker, 0);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect(stderr).toContain(`${round} rounds, 1 restart`);
});

it.concurrent("T14 one that saves at PAUSE and exits with 0 has not done its part, however late and often", async () => {
	const site = openSite();
	const launch = site.launch(alone("hears"));
	const ofRank = (round: number, rank: number) =>
		site.sawWorker(round, { RANK: String(rank) });
	const late = await ofRank(1, 1);
	tell(await ofRank(1, 0), 9);
	const fails = await ofRank(2, 0);
	tell(late, 0);
	const lateAgain = await ofRank(3, 1);
	tell(fails, 9);
	await launch.saw("stderr", "ended at PAUSE");
	tell(lateAgain, 0);
	for (const rank of [0, 1]) tell(await ofRank(4, rank), 0);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	expect(stderr).toContain("4 rounds");
});
