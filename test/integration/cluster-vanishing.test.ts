import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();

it("T5 an agent that is killed, frozen or cut off is gone when its lease is over, and each comes back", async () => {
	// All other time-outs are far longer than what is waited for here.
	const conf = { lease_ttl: 2 };
	const cluster = new Cluster(etcd(), { nodes: "1:4", conf });
	const proxy = await startProxy(etcd().endpoint);
	cluster.agent("node-d", { endpoint: proxy.endpoint });
	await cluster.store.sawNode("node-d", "ready");
	await cluster.form("node-a", "node-b", "node-c", "node-d");

	await cluster.kill("node-b");
	await cluster.newestWorld("node-a", "node-c", "node-d");
	cluster.freeze("node-c");
	await cluster.newestWorld("node-a", "node-d");
	proxy.cut();
	await cluster.newestWorld("node-a");
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 4, charged: 0, incidents: 0 });
	const endings = (await cluster.store.history()).map(({ ending }) => ending);
	expect(endings.slice(0, 3)).toEqual([
		"node-b left: lease expired",
		"node-c left: lease expired",
		"node-d left: lease expired",
	]);

	cluster.agent("node-b");
	cluster.thaw("node-c");
	await proxy.resume();
	const members = await cluster.newestWorld(
		...["node-a", "node-b", "node-c", "node-d"],
	);
	expect(members[0]).toBe("node-a");
	expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
	await cluster.stop();
});

it("T8 J7 an agent that is killed and started again within its lease makes one round and costs nothing", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2:3" });
	let order: readonly string[] = await cluster.form(
		...["node-a", "node-b", "node-c"],
	);
	for (const nodeId of [...order].reverse()) {
		const before = (await cluster.store.round())?.synced ?? 0;
		await cluster.kill(nodeId);
		cluster.agent(nodeId);
		// Another process of a node is a newcomer. None of the old one's workers lives by then.
		order = [...order.filter((other) => other !== nodeId), nodeId];
		await cluster.world(before + 1, ...order);
	}
	expect(await cluster.store.round()).toMatchObject({
		synced: 4,
		charged: 0,
		incidents: 0,
	});
	await cluster.stop();
});

it("T8 one that comes back later makes a round for vanishing and one for returning, and costs nothing", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2:3" });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	await cluster.vanish(first);
	await cluster.world(2, second, third);
	cluster.agent(first);
	const workers = await cluster.world(3, second, third, first);
	for (const worker of workers) cluster.tell(worker, 0);
	const ends = await cluster.ends({ [first]: 0, [second]: 0, [third]: 0 });
	expect(ends[second]?.stderr).toContain("succeeded: 3 rounds, 0 restarts");
});

it("T8 one that is frozen or cut off for less than its lease makes no round", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const proxy = await startProxy(etcd().endpoint);
	cluster.agent("node-b", { endpoint: proxy.endpoint });
	await cluster.form("node-a", "node-b");
	const accepted = proxy.accepted;
	cluster.freeze("node-b");
	proxy.reset();
	cluster.thaw("node-b");
	await waitFor("node-b to connect again", () => proxy.accepted > accepted);
	for (const worker of cluster.site.workers(1)) cluster.tell(worker, 0);
	const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
	expect(ends["node-a"]?.stderr).toContain("succeeded: 1 round, 0 restarts");
});

it("J2 an agent that was frozen over two group restarts wakes into the newest round", async () => {
	const conf = { settle_timeout: 1, last_call_timeout: 1 };
	const cluster = new Cluster(etcd(), { nodes: "2:3", conf });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	cluster.freeze(third);
	for (const round of [1, 2]) {
		const [worker] = cluster.site.workers(round);
		if (worker) cluster.tell(worker, 1);
		await cluster.world(round + 1, first, second);
	}
	cluster.thaw(third);
	await cluster.world(4, first, second, third);
	expect(await cluster.store.round()).toMatchObject({
		charged: 2,
		incidents: 2,
	});
	await cluster.stop();
});
