import { describe, expect, it } from "vitest";
import { Cluster, killed } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { sawVoice } from "../helpers/guards.js";
import { tell } from "../helpers/obedient-worker.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();

describe("membership", { concurrent: true }, () => {
	it("T5 T7 J14 three that are told to leave are gone at once, and as they join together that makes one round", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1:4" }, context);
		const [first, ...others] = await cluster.form(
			...(["node-a", "node-b", "node-c", "node-d"] as const),
		);
		for (const nodeId of others) cluster.launchOf(nodeId).signal("SIGTERM");
		for (const nodeId of others) await cluster.ends({ [nodeId]: 143 });
		await cluster.newestWorld(first);
		const before = (await cluster.store.round())?.synced ?? 0;

		for (const nodeId of others) cluster.agent(nodeId);
		const members = await cluster.newestWorld(first, ...others);
		expect(members[0]).toBe(first);
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: before + 1, charged: 0, incidents: 0 },
		});
		await cluster.stop();
	});

	it("T6 agents beyond MAX wait as spares, take the seat of who vanishes, and exit as the run does", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		for (const nodeId of ["node-c", "node-d"]) {
			cluster.agent(nodeId);
			await cluster.store.sawNode(nodeId, "ready");
		}
		await cluster.vanish(second);
		await cluster.world(2, first, "node-c");
		cluster.succeed(2);
		const ends = await cluster.ends({ [first]: 0, "node-c": 0, "node-d": 0 });
		expect(ends["node-d"]?.stderr).toContain("no seat in round 2: waits as a");
		expect(ends["node-d"]?.stderr).toMatch(/succeeded without this node\n$/);
		expect(cluster.site.workers()).toHaveLength(4);
	});
});

describe("a smaller world", { concurrent: true }, () => {
	it("T6 than MIN: workers end, and after the join time-out the run fails with 3, naming who is missing", async (context) => {
		const conf = { join_timeout: 8, last_call_timeout: 1, settle_timeout: 1 };
		const options = { nodes: "2:3", conf };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		await cluster.vanish(second);
		const { [first]: end } = await cluster.ends({ [first]: 3 });
		expect(end?.stderr).toContain(
			`run ${cluster.store.runId} failed: rendezvous timed out after 8 s: 1 of at least 2 nodes are ready; missing: ${second}`,
		);
		await cluster.site.isSwept();
		expect(cluster.site.workers()).toHaveLength(2);
	});

	it("T15 T6 T8 J14 of several roles and sizes is right, and right again when the node is back; both rounds cost nothing", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2:3" }, context);
		cluster.agent("node-a", { nproc: 2, role: "trainer" });
		cluster.agent("node-b", { nproc: 1, role: "evaluator" });
		cluster.agent("node-c", { nproc: 3, role: "trainer" });
		const [first, second, third] = await cluster.form(
			...(["node-a", "node-b", "node-c"] as const),
		);
		await cluster.vanish(second);
		await cluster.world(2, first, third);
		cluster.agent(second);
		await cluster.world(3, first, third, second);
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 3, charged: 0, incidents: 0 },
		});
		await cluster.stop();
	});

	it("T9 has another MASTER_ADDR where the node of rank 0 has died, and a port there that is free", async (context) => {
		const options = { nodes: "2:3", worker: ["adds-up.js"] } as const;
		const cluster = new Cluster(etcd(), options, context);
		const addresses = new Map<string, string>();
		for (const [index, nodeId] of ["node-a", "node-b", "node-c"].entries()) {
			const address = `127.0.0.${index + 1}`;
			addresses.set(nodeId, address);
			cluster.agent(nodeId, { flags: ["--local-addr", address] });
		}
		const [first, second, third] = await cluster.form(
			...(["node-a", "node-b", "node-c"] as const),
		);
		const before = cluster.worker(1, 0).env;
		expect(before.MASTER_ADDR).toBe(addresses.get(first));
		await cluster.vanish(first);
		// Its workers have found each other by what they were told.
		await cluster.world(2, second, third);
		const after = cluster.worker(2, 0).env;
		expect(after.MASTER_ADDR).toBe(addresses.get(second));
		expect(after.MASTER_PORT).not.toBe(before.MASTER_PORT);
		await cluster.stop();
	});
});

const NODES = ["node-a", "node-b", "node-c"] as const;

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
		killed("node-b"),
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

it("A9 T5 an agent that is killed is missed at once, the one that coordinates too", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:3" });
	let left: readonly string[] = await cluster.form(...NODES);
	const voices = new Map<string, string>();
	while (left.length > 1) {
		for (const nodeId of left) {
			const { pid } = cluster.launchOf(nodeId);
			voices.set(nodeId, await sawVoice(pid, voices.get(nodeId)));
		}
		const coordinator = (await cluster.store.coordinator()) ?? "";
		await cluster.kill(coordinator);
		// All leases, and what else the planner waits for, are longer than this test.
		left = left.filter((nodeId) => nodeId !== coordinator);
		await cluster.newestWorld(...left);
	}
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 3, charged: 0, incidents: 0 },
	});
	await cluster.stop();
});

describe("a node that comes back", { concurrent: true }, () => {
	it("T8 J7 within its lease, as another process, makes one round and costs nothing", async (context) => {
		const flags = ["--links", "off"];
		const cluster = new Cluster(etcd(), { nodes: "2:3", flags }, context);
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
