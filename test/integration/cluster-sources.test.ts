import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { isAlive, waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();
const BUDGET = ["--max-restarts", "10"];

it("J6 a worker's exit code, a worker's signal, and two workers of two nodes at once: one round and one restart each", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2", flags: BUDGET });
	for (const nodeId of ["node-a", "node-b"])
		cluster.agent(nodeId, { nproc: 2 });
	const order = await cluster.form("node-a", "node-b");
	const [first, second] = order;

	const [, , third] = cluster.site.workers(1);
	if (third) cluster.tell(third, 7);
	const [fourth] = await cluster.world(2, first, second);
	process.kill(fourth?.pid ?? 0, "SIGSEGV");
	for (const { pid } of await cluster.world(3, first, second)) {
		process.kill(pid, "SIGKILL");
	}
	const [worker] = await cluster.world(4, first, second);
	expect(worker?.env.TORCHELASTIC_RESTART_COUNT).toBe("3");
	const lines = await cluster.store.history();
	expect(lines.map(({ ending }) => ending).slice(0, 3)).toEqual([
		`rank 2 on ${second}: exit code 7`,
		`rank 0 on ${first}: killed by SIGSEGV`,
		expect.stringMatching(/^rank [0-3] on node-[ab]: killed by SIGKILL$/),
	]);
	expect(await cluster.store.round()).toMatchObject({
		charged: 3,
		incidents: 3,
	});
	await cluster.stop();
});

it("J6 an agent killed at the moment when a worker elsewhere fails: one round, one restart", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2:3" });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const [worker] = cluster.site.workers(1);
	if (worker) cluster.tell(worker, 1);
	await cluster.kill(third);
	await cluster.store.sawRound(
		"round 1 to be left",
		({ deprecated }) => deprecated === 1,
	);
	// Held by its lease, it is waited for until that is over.
	await cluster.store.endLease(third);
	await cluster.world(2, first, second);
	expect(await cluster.store.round()).toMatchObject({
		charged: 1,
		incidents: 1,
	});
	await cluster.stop();
});

it("J3 J6 an agent killed while others wait at the barrier does not hold them, and nobody starts before the last one is ready", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2:3",
		flags: ["--shutdown-timeout", "1h"],
		worker: ["obeys.js", "stubborn"],
	});
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const [fails, lingers] = cluster.site.workers(1);
	if (fails === undefined || lingers === undefined)
		throw new Error("no worker");
	cluster.tell(fails, 1);
	await cluster.store.sawNode(second, "stopping");
	await cluster.store.sawNode(first, "ready");
	await cluster.vanish(third);
	cluster.tell(lingers, 0);
	const started = await cluster.world(2, first, second);
	const begins = started.map(({ extra }) => extra.startedAt ?? 0);
	expect(Math.min(...begins)).toBeGreaterThan(cluster.endOf(lingers));
	expect(await cluster.store.round()).toMatchObject({
		charged: 1,
		incidents: 1,
	});
	for (const worker of started) cluster.tell(worker, 0);
	await cluster.ends({ [first]: 0, [second]: 0 });
});

it("J6 agents that die at whatever moment of their start hold nobody up and cost nothing", async () => {
	const cluster = new Cluster(etcd(), { nodes: "3" });
	for (const nodeId of ["node-a", "node-b"]) {
		cluster.agent(nodeId);
		await cluster.store.sawNode(nodeId, "ready");
	}
	// Dead, it is given a seat: its lease lives.
	await cluster.kill("node-b");
	cluster.agent("node-c");
	await cluster.store.sawMembers(1);
	for (const words of [
		"only agents of this machine",
		"logs in",
		"claims round",
	]) {
		await cluster.agent("node-b").saw("stderr", words);
		await cluster.kill("node-b");
	}
	cluster.agent("node-b");
	await cluster.newestWorld("node-a", "node-b", "node-c");
	expect(await cluster.store.round()).toMatchObject({
		charged: 0,
		incidents: 0,
	});
	await cluster.stop();
});

it("T16 T9 workers that die because another has died are part of its incident", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2", worker: ["adds-up.js"] });
	for (const nodeId of ["node-a", "node-b"])
		cluster.agent(nodeId, { nproc: 2 });
	const [first, second] = await cluster.form("node-a", "node-b");
	for (const round of [1, 2]) {
		const last = cluster.site.workers(round).at(-1);
		process.kill(last?.pid ?? 0, "SIGKILL");
		await cluster.world(round + 1, first, second);
		expect(await cluster.store.round()).toMatchObject({
			charged: round,
			incidents: round,
		});
	}
	await cluster.stop();
});

it("T16 a failure that is told late, of a node that had not heard of the first one, belongs to it", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const [follows, fails] = cluster.site.workers(1);
	if (fails === undefined || follows === undefined)
		throw new Error("no worker");
	cluster.freeze(first);
	cluster.tell(fails, 3);
	await cluster.store.sawNode(second, "ready");
	cluster.tell(follows, 134);
	await waitFor("the worker's end", () => !isAlive(follows.pid));
	cluster.thaw(first);
	await cluster.world(2, first, second);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ charged: 1, incidents: 1 });
	expect(round?.cause.reason).toBe(`rank 1 on ${second}: exit code 3`);
	await cluster.stop();
});
