import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";

const etcd = etcdForAll();

it("T5 T7 J14 three that are told to leave are gone at once, and when they join together that makes one round", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:4" });
	const [first, ...others] = await cluster.form(
		...["node-a", "node-b", "node-c", "node-d"],
	);
	for (const nodeId of others) cluster.launchOf(nodeId).signal("SIGTERM");
	for (const nodeId of others) await cluster.ends({ [nodeId]: 143 });
	await cluster.newestWorld(first ?? "");
	const before = (await cluster.store.round())?.synced ?? 0;

	for (const nodeId of others) cluster.agent(nodeId);
	const members = await cluster.newestWorld(first ?? "", ...others);
	const round = await cluster.store.round();
	expect(members[0]).toBe(first);
	expect(round).toMatchObject({ synced: before + 1, charged: 0, incidents: 0 });
	await cluster.stop();
});

it("T6 T7 agents beyond MAX wait as spares, take the seat of who vanishes, and exit as the run does", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	for (const nodeId of ["node-c", "node-d"]) {
		cluster.agent(nodeId);
		await cluster.store.sawNode(nodeId, "ready");
	}
	await cluster.vanish(second);
	const workers = await cluster.world(2, first, "node-c");
	for (const worker of workers) cluster.tell(worker, 0);
	const { "node-d": spare } = await cluster.ends({
		[first]: 0,
		"node-c": 0,
		"node-d": 0,
	});
	expect(spare?.stderr).toContain("no seat in round 2: waits as a spare");
	expect(cluster.site.workers()).toHaveLength(4);
});

it("T6 fewer than MIN: workers end, and after the join time-out the run fails with 3, naming who is missing", async () => {
	const conf = { join_timeout: 3, last_call_timeout: 1, settle_timeout: 1 };
	const cluster = new Cluster(etcd(), { nodes: "2:3", conf });
	const [first, second] = await cluster.form("node-a", "node-b");
	await cluster.vanish(second);
	const { [first]: end } = await cluster.ends({ [first]: 3 });
	expect(end?.stderr).toContain(
		`rendezvous timed out after 3 s: 1 of at least 2 nodes are ready; missing: ${second}`,
	);
	await cluster.site.isSwept();
	expect(cluster.site.workers()).toHaveLength(2);
});

it("T15 J14 roles and sizes of several nodes make one world, also when one of them is gone", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2:3" });
	cluster.agent("node-a", { nproc: 2, role: "trainer" });
	cluster.agent("node-b", { nproc: 1, role: "evaluator" });
	cluster.agent("node-c", { nproc: 3, role: "trainer" });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	await cluster.vanish(second);
	await cluster.world(2, first, third);
	cluster.agent(second);
	await cluster.world(3, first, third, second);
	await cluster.stop();
});
