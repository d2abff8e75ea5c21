import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";
import { waitFor } from "../helpers/processes.js";
import { openProxy, startProxy } from "../helpers/tcp-proxy.js";

const NODES = ["node-a", "node-b", "node-c"] as const;

const etcd = etcdForAll();

it("T5 an agent that is killed, frozen or cut off is gone when its lease is over, and each comes back", async () => {
	// All other time-outs are far longer than what is waited for here.
	const conf = { lease_ttl: 2 };
	const cluster = new Cluster(etcd(), { nodes: "1:4", conf });
	const proxy = await startProxy(etcd().endpoint);
	cluster.agent("node-d", { endpoint: proxy.endpoint });
	await cluster.form(...NODES, "node-d");

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
	const members = await cluster.newestWorld(...NODES, "node-d");
	expect(members[0]).toBe("node-a");
	expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
	await cluster.stop();
});

describe("a node that comes back", { concurrent: true }, () => {
	it("T8 J7 within its lease, as another process, makes one round and costs nothing", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2:3" }, context);
		let order: readonly string[] = await cluster.form(...NODES);
		for (const nodeId of [...order].reverse()) {
			const before = (await cluster.store.round())?.synced ?? 0;
			await cluster.kill(nodeId);
			cluster.agent(nodeId);
			// Another process of a node is a newcomer. None of the old one's workers lives by then.
			order = [...order.filter((other) => other !== nodeId), nodeId];
			await cluster.world(before + 1, ...order);
		}
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 4, charged: 0, incidents: 0 },
		});
		await cluster.stop();
	});

	it("T8 later makes a round for vanishing and one for returning, and costs nothing", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2:3" }, context);
		const [first, second, third] = await cluster.form(...NODES);
		await cluster.vanish(first);
		await cluster.world(2, second, third);
		cluster.agent(first);
		await cluster.world(3, second, third, first);
		cluster.succeed(3);
		const ends = await cluster.ends({ [first]: 0, [second]: 0, [third]: 0 });
		expect(ends[second]?.stderr).toContain("succeeded: 3 rounds, 0 restarts");
	});

	it("T8 from being frozen and cut off for less than its lease makes no round", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const proxy = await openProxy(etcd().endpoint);
		context.onTestFinished(() => proxy.close());
		cluster.agent("node-b", { endpoint: proxy.endpoint });
		await cluster.form("node-a", "node-b");
		const accepted = proxy.accepted;
		cluster.freeze("node-b");
		proxy.reset();
		cluster.thaw("node-b");
		await waitFor("node-b to connect again", () => proxy.accepted > accepted);
		cluster.succeed(1);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		expect(ends["node-a"]?.stderr).toContain("succeeded: 1 round, 0 restarts");
	});

	it("J2 from being frozen over two group restarts wakes into the newest round", async (context) => {
		const conf = { settle_timeout: 1 };
		const cluster = new Cluster(etcd(), { nodes: "2:3", conf }, context);
		const members = await cluster.form(...NODES);
		// Who coordinates would hold up the run for its whole lease: another test.
		const coordinator = await cluster.store.coordinator();
		const frozen = members.findLast((nodeId) => nodeId !== coordinator) ?? "";
		const others = members.filter((nodeId) => nodeId !== frozen);
		cluster.freeze(frozen);
		for (const round of [1, 2]) {
			const worker = cluster.site
				.workers(round)
				.find(({ env }) => env.ELASTIC_RUN_NODE_ID !== frozen);
			if (worker === undefined) expect.unreachable();
			tell(worker, 1);
			await cluster.world(round + 1, ...others);
		}
		cluster.thaw(frozen);
		await cluster.world(4, ...others, frozen);
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 4, charged: 2, incidents: 2 },
		});
		await cluster.stop();
	});
});
