import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import { job } from "../helpers/launch.js";

const etcd = etcdForAll();

it("D6 J8 the run's budget outlives every agent, and the coordinator's own restarts", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2",
		flags: ["--max-restarts", "1"],
	});
	let order: readonly string[] = await cluster.form("node-a", "node-b");
	const [fails] = cluster.site.workers(1);
	if (fails) cluster.tell(fails, 1);
	await cluster.world(2, ...order);
	for (const round of [3, 4]) {
		const coordinator = (await cluster.store.coordinator()) ?? "";
		await cluster.vanish(coordinator);
		cluster.agent(coordinator);
		order = [...order.filter((nodeId) => nodeId !== coordinator), coordinator];
		const [worker] = await cluster.world(round, ...order);
		expect(worker?.env.TORCHELASTIC_RESTART_COUNT).toBe("1");
	}
	const [last] = cluster.site.workers(4);
	if (last) cluster.tell(last, 2);
	const ends = await cluster.ends({ "node-a": 1, "node-b": 1 });
	for (const { stderr } of Object.values(ends)) {
		expect(stderr).toContain("the budget of 1 restarts is spent");
		expect(stderr).toMatch(/^root cause: rank 0 on .*, round 4: exit code 2$/m);
	}
});

it("J14 T6 a node's own budget outlives its agent; spent, the node leaves with 75 and the others go on", async () => {
	const policy = ["--restart-policy", job("node-pays-policy.js")];
	const cluster = new Cluster(etcd(), {
		nodes: "1:2",
		flags: [...policy, "--max-restarts", "1"],
	});
	const [first, second] = await cluster.form("node-a", "node-b");
	const [, fails] = cluster.site.workers(1);
	if (fails) cluster.tell(fails, 1);
	await cluster.world(2, first, second);
	await cluster.kill(second);
	cluster.agent(second);
	const [, again] = await cluster.world(3, first, second);
	if (again) cluster.tell(again, 1);
	const ends = await cluster.ends({ [second]: 75 });
	console.log(ends[second]?.stderr);
	const [alone] = await cluster.world(4, first);
	cluster.agent(second);
	const refused = await cluster.ends({ [second]: 75 });
	console.log(refused[second]?.stderr);
	if (alone) cluster.tell(alone, 0);
	await cluster.ends({ [first]: 0 });
});

it("D6 J5 the coordinator killed while a round is being left: its successor goes on, without a spurious restart", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2:3",
		flags: ["--shutdown-timeout", "1h"],
		worker: ["obeys.js", "stubborn"],
	});
	await cluster.form("node-a", "node-b", "node-c");
	const coordinator = (await cluster.store.coordinator()) ?? "";
	const workers = cluster.site.workers(1);
	const others = workers.filter(
		({ env }) => env.ELASTIC_RUN_NODE_ID !== coordinator,
	);
	const [fails, lingers] = others;
	if (!fails || !lingers) throw new Error("no worker");
	const left = others.map(({ env }) => env.ELASTIC_RUN_NODE_ID ?? "");
	cluster.tell(fails, 5);
	await cluster.store.sawRound(
		"round 1 to be left",
		({ deprecated }) => deprecated === 1,
	);
	await cluster.vanish(coordinator);
	cluster.tell(lingers, 0);
	await cluster.world(2, ...left);
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 2, charged: 1, incidents: 1 },
	});
	for (const worker of cluster.site.workers(2)) cluster.tell(worker, 0);
	await cluster.ends(Object.fromEntries(left.map((nodeId) => [nodeId, 0])));
});

it("D7 a state that nobody can read is a safe stop with its reason", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	await etcdPut(etcd(), cluster.store.keys.round, '{"version":7}');
	const ends = await cluster.ends({ [first]: 3, [second]: 3 });
	for (const { stderr } of Object.values(ends)) {
		expect(stderr.trimEnd().split("\n").at(-1)).toContain(
			`the store's key ${cluster.store.keys.round} holds no record of version 1`,
		);
	}
	await cluster.site.isSwept();
});
