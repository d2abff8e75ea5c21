import { describe, expect, it } from "vitest";
import { formBehindProxies } from "../helpers/agents-behind-proxies.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { beginOf, endOf, tell } from "../helpers/obedient-worker.js";
import {
	endProcess,
	isAlive,
	signalProcess,
	waitFor,
} from "../helpers/processes.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const ONE_RESTART = { charged: 1, incidents: 1 };
const NO_RESTART = { charged: 0, incidents: 0 };

const etcd = etcdForAll();

describe("J6 of workers", { concurrent: true }, () => {
	it("an exit code, a signal, and two of two nodes at once: one round and one restart each", async (context) => {
		const flags = ["--max-restarts", "10"];
		const cluster = new Cluster(etcd(), { nodes: "2", flags }, context);
		cluster.agent("node-a", { nproc: 2 });
		cluster.agent("node-b", { nproc: 2 });
		const [first, second] = await cluster.form("node-a", "node-b");

		tell(cluster.worker(1, 2), 7);
		await cluster.world(2, first, second);
		signalProcess(cluster.worker(2, 0).pid, "SIGSEGV");
		for (const { pid } of await cluster.world(3, first, second)) {
			endProcess(pid);
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
			...{ charged: 3, incidents: 3 },
		});
		await cluster.stop();
	});

	it("T16 T9 those that die because another has died are part of its incident", async (context) => {
		const options = { nodes: "2", worker: ["adds-up.js"] } as const;
		const cluster = new Cluster(etcd(), options, context);
		cluster.agent("node-a", { nproc: 2 });
		cluster.agent("node-b", { nproc: 2 });
		const [first, second] = await cluster.form("node-a", "node-b");
		for (const round of [1, 2]) {
			signalProcess(cluster.worker(round, 3).pid, "SIGKILL");
			await cluster.world(round + 1, first, second);
			expect(await cluster.store.round()).toMatchObject({
				...{ charged: round, incidents: round },
			});
		}
		await cluster.stop();
	});

	it("T16 what is told late, by a node that had not heard of the first failure, belongs to it", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		cluster.freeze(first);
		tell(cluster.worker(1, 1), 3);
		await cluster.store.sawNode(second, "ready", 2);
		const follows = cluster.worker(1, 0);
		tell(follows, 134);
		await waitFor("the worker's end", () => !isAlive(follows.pid));
		cluster.thaw(first);
		await cluster.world(2, first, second);
		const round = await cluster.store.round();
		expect(round).toMatchObject(ONE_RESTART);
		expect(round?.cause.reason).toBe(`rank 1 on ${second}: exit code 3`);
		await cluster.stop();
	});
});

describe("a worker that fails when the members change", {
	concurrent: true,
}, () => {
	it("before its own node has heard of that: part of the change, and costs nothing", async (context) => {
		const [, unaware, leaver] = NODES;
		const agents = { "node-a": {}, [unaware]: {}, [leaver]: {} };
		const options = { nodes: "2:3" };
		const run = await formBehindProxies(context, etcd(), agents, options);
		const { cluster, members, lives } = run;
		const store = run.proxyOf(unaware);
		store.oneWay("to-server");
		cluster.launchOf(leaver).signal("SIGTERM");
		await cluster.store.sawRound(
			"round 1 to be left",
			({ deprecated }) => deprecated === 1,
		);
		const follows = lives.find(({ nodeId }) => nodeId === unaware);
		endProcess(follows?.pid);
		await cluster.launchOf(unaware).saw("stderr", "killed by SIGKILL");
		await store.resume();
		await cluster.world(2, ...members.filter((nodeId) => nodeId !== leaver));
		const round = await cluster.store.round();
		expect(round).toMatchObject(NO_RESTART);
		expect(round?.cause).toMatchObject({ kind: "scale-down", root: null });
		const { failure } = (await cluster.store.node(unaware)) ?? {};
		expect(failure).toMatchObject({
			unaware: true,
			failure: { signal: "SIGKILL" },
		});
		await cluster.stop();
	});
});

describe("J6 of agents", { concurrent: true }, () => {
	it("one killed at the moment when a worker elsewhere fails: one round, and as that may be why, no restart", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2:3" }, context);
		const [first, ...others] = await cluster.form(...NODES);
		// While its lease lives, nobody coordinates in the place of one that is dead.
		const coordinator = await cluster.store.coordinator();
		const killed = others.find((nodeId) => nodeId !== coordinator) ?? "";
		tell(cluster.worker(1, 0), 1);
		await cluster.kill(killed);
		await cluster.store.sawRound(
			"round 1 to be left",
			({ deprecated }) => deprecated === 1,
		);
		// Held by its lease, it is waited for until that is over.
		await cluster.store.endLease(killed);
		await cluster.world(
			2,
			first,
			...others.filter((other) => other !== killed),
		);
		expect(await cluster.store.round()).toMatchObject(NO_RESTART);
		await cluster.stop();
	});

	it("J3 one killed while others wait at the barrier does not hold them, and nobody starts before the last one is ready", async (context) => {
		const flags = ["--shutdown-timeout", "1h"];
		const worker = ["obeys.js", "stubborn"] as const;
		const options = { nodes: "2:3", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second, third] = await cluster.form(...NODES);
		tell(cluster.worker(1, 0), 1);
		await cluster.store.sawNode(second, "stopping");
		await cluster.store.sawNode(third, "stopping");
		await cluster.store.sawNode(first, "ready", 2);
		await cluster.vanish(third);
		const lingers = cluster.worker(1, 1);
		tell(lingers, 0);
		const started = await cluster.world(2, first, second);
		const begins = started.map(beginOf);
		expect(Math.min(...begins)).toBeGreaterThan(endOf(lingers));
		// It was there when the failure was known, as far as the coordinator has seen that.
		const { incidents, charged } = (await cluster.store.round()) ?? {};
		expect(charged).toBe(incidents);
		cluster.succeed(2);
		await cluster.ends({ [first]: 0, [second]: 0 });
	});

	it("one that dies at whatever moment of its start, again and again, holds nobody up and costs nothing", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "3" }, context);
		for (const nodeId of ["node-a", "node-b"]) {
			cluster.agent(nodeId);
			await cluster.store.sawNode(nodeId, "ready");
		}
		// Dead, it is given a seat: its lease lives.
		await cluster.kill("node-b");
		cluster.agent("node-c");
		await cluster.store.sawMembers(1);
		for (const words of ["only agents of this machine", "logs in", "claims"]) {
			await cluster.agent("node-b").saw("stderr", words);
			await cluster.kill("node-b");
		}
		cluster.agent("node-b");
		await cluster.newestWorld(...NODES);
		expect(await cluster.store.round()).toMatchObject(NO_RESTART);
		await cluster.stop();
	});
});
