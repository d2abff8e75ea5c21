import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import {
	eventsOf,
	expectInOrder,
	expectSpared,
	sawEvent,
} from "../helpers/followers.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();
const SOFT = ["--restart-policy", "soft"];
const FOLLOWS = { worker: ["follows.js"], flags: SOFT } as const;

it.concurrent("T4 T5 T7 T9 a node is killed, one joins, one stops: survivors keep their process, and learn of each change", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "1:3", ...FOLLOWS }, context);
	for (const nodeId of ["node-a", "node-b", "node-c"])
		cluster.agent(nodeId, { nproc: 2 });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const survivors = cluster.site.workers(1).slice(0, 2);

	await cluster.vanish(third);
	await sawEvent(survivors, "WORK", 2);
	cluster.agent("node-d", { nproc: 2 });
	const newcomers = await cluster.site.sawWorkers(2, 3);
	await sawEvent([...survivors, ...newcomers], "WORK", 3);
	cluster.launchOf(second).signal("SIGTERM");
	await cluster.ends({ [second]: 143 });
	await sawEvent(survivors, "WORK", 4);

	expectSpared([...survivors, ...newcomers]);
	for (const [localRank, worker] of survivors.entries()) {
		expectInOrder(worker);
		const events = eventsOf(worker);
		const place = (worldSize: number) => ({ rank: localRank, worldSize });
		expect(events).toMatchObject([
			{ kind: "WORK", round: 1, workerInfo: place(6) },
			{ changeEvent: "SCALE_DOWN", reason: `${third} left: lease expired` },
			{ kind: "WORK", round: 2, workerInfo: place(4) },
			{ changeEvent: "SCALE_UP", reason: "joining: node-d" },
			{ kind: "WORK", round: 3, workerInfo: place(6) },
			{ changeEvent: "SCALE_DOWN", reason: `${second} left: SIGTERM` },
			{ kind: "WORK", round: 4, workerInfo: place(4) },
		]);
		const works = events.filter(({ kind }) => kind === "WORK");
		const ports = works.map(({ workerInfo }) => workerInfo.masterPort);
		expect(new Set(ports).size).toBe(4);
	}
	expect(await cluster.store.round()).toMatchObject({
		incidents: 0,
		charged: 0,
	});
	for (const worker of [...survivors, ...newcomers]) tell(worker, 0);
	const ends = await cluster.ends({ [first]: 0, "node-d": 0 });
	expect(ends[first]?.stderr).toContain("succeeded: 4 rounds, 0 restarts");
});

it.concurrent("T7 three agents that join at once make one round", async (context) => {
	const conf = { last_call_timeout: 1 };
	const cluster = new Cluster(
		etcd(),
		{ nodes: "1:4", conf, ...FOLLOWS },
		context,
	);
	await cluster.form("node-a");
	const survivors = cluster.site.workers(1);
	// It coordinates: it sees the three at once, however long their starts take.
	cluster.freeze("node-a");
	const others = ["node-b", "node-c", "node-d"];
	for (const nodeId of others) cluster.agent(nodeId);
	for (const nodeId of others) await cluster.store.sawNode(nodeId, "ready", 2);
	cluster.thaw("node-a");
	await cluster.site.sawWorkers(3, 2);
	await sawEvent(survivors, "WORK", 2);
	expectSpared(survivors);
	expect((await cluster.store.round())?.synced).toBe(2);
	await cluster.stop();
});

it.concurrent("T8 an agent that is killed and comes back within its lease makes one round, and costs nothing", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "2", ...FOLLOWS }, context);
	const [first, second] = await cluster.form("node-a", "node-b");
	const survivors = cluster.site.workers(1).slice(0, 1);
	await cluster.kill(second);
	cluster.agent(second);
	await cluster.site.sawWorkers(1, 2);
	await sawEvent(survivors, "WORK", 2);
	expectSpared(survivors);
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 2, incidents: 0, charged: 0 },
	});
	expect(await cluster.store.sawMembers(2)).toEqual([first, second]);
	await cluster.stop();
});

it.concurrent("an agent says that it is ready when PAUSE is on disk, and not before", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "2", ...FOLLOWS }, context);
	const [first, second] = await cluster.form("node-a", "node-b");
	const [survivor] = cluster.site.workers(1);
	const channel = survivor?.env.ELASTIC_RUN_CHANNEL ?? "";
	await cluster.vanish(second);
	const seen = await poll(`${first} to be ready`, 30_000, async () => {
		const record = await cluster.store.node(first);
		if (record?.state !== "ready") return undefined;
		return { record, events: readdirSync(join(channel, "events")) };
	});
	expect(seen.record).toMatchObject({ claim: 2, pids: [survivor?.pid] });
	expect(seen.events.sort()).toEqual(["0000000001.json", "0000000002.json"]);
	await cluster.stop();
});
