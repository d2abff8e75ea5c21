import { describe, expect, it } from "vitest";
import { Cluster, killed } from "../helpers/cluster.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

describe("the end of a run", { concurrent: true }, () => {
	it("J10 is put off where a worker fails when others have finished: all of them start again", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 0), 0);
		await cluster.store.sawNode(first, "finished");
		tell(cluster.worker(1, 1), 1);
		await cluster.world(2, first, second);
		cluster.succeed(2);
		const ends = await cluster.ends({ [first]: 0, [second]: 0 });
		expect(ends[first]?.stderr).toContain("succeeded: 2 rounds, 1 restart");
	});

	it("J8 has one reason and one exit code on every agent, late comers too", async (context) => {
		const flags = [
			...["--max-restarts", "1", "--output", "json"],
			...["--shutdown-timeout", "1h"],
		];
		const worker = ["obeys.sh", "stubborn"] as const;
		// The workers that are left mind no signal: the run is over when their time to be ready is.
		const conf = { settle_timeout: 2 };
		const options = { nodes: "2:3", flags, worker, conf };
		const cluster = new Cluster(etcd(), options, context);
		const nodes = ["node-a", "node-b", "node-c"] as const;
		const [first, second, third] = await cluster.form(...nodes);
		for (const rank of [0, 1, 2]) tell(cluster.worker(1, rank), 1);
		await cluster.world(2, first, second, third);
		const fails = cluster.worker(2, 1);
		tell(fails, 9);
		await cluster.ends({ [second]: 1 });
		// A worker that minds no signal keeps the run there for late comers.
		cluster.agent("node-d");
		await cluster.ends({ "node-d": 1 });
		tell(cluster.worker(2, 0), 0);
		tell(cluster.worker(2, 2), 0);
		const ends = await cluster.ends({
			...{ [first]: 1, [second]: 1, [third]: 1, "node-d": 1 },
		});
		const where = `rank 1 on ${second}`;
		for (const { stdout, stderr } of Object.values(ends)) {
			expect(JSON.parse(stdout)).toMatchObject({
				outcome: "failed",
				reason: `${where}: exit code 9; the budget of 1 restart is spent`,
				rootCause: { failure: { round: 2, rank: 1, nodeId: second } },
				restarts: { used: 1, allowed: 1 },
				instance: Number(fails.env.ELASTIC_RUN_INSTANCE),
			});
			expect(stderr).toContain(
				`root cause: ${where} (pid ${fails.pid}), round 2: exit code 9\n`,
			);
		}
		await cluster.site.isSwept();
	});

	it("D7 is a safe stop, with its reason, where nobody can read the run's state", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		const key = cluster.store.keys.round;
		await etcdPut(etcd(), key, '{"version":7}');
		const ends = await cluster.ends({ [first]: 3, [second]: 3 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr.trimEnd().split("\n").at(-1)).toContain(
				`the store's key ${key} holds no record of version 1`,
			);
		}
		await cluster.site.isSwept();
	});
});

describe("a budget", { concurrent: true }, () => {
	it("D6 J8 of the run outlives its agents, and the coordinator's own restarts", async (context) => {
		const flags = ["--max-restarts", "1"];
		const cluster = new Cluster(etcd(), { nodes: "2", flags }, context);
		let order: readonly string[] = await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 0), 1);
		await cluster.world(2, ...order);
		for (const round of [3, 4]) {
			const coordinator = (await cluster.store.coordinator()) ?? "";
			await cluster.vanish(coordinator);
			cluster.agent(coordinator);
			order = [...order.filter((other) => other !== coordinator), coordinator];
			const [worker] = await cluster.world(round, ...order);
			expect(worker?.env.TORCHELASTIC_RESTART_COUNT).toBe("1");
		}
		tell(cluster.worker(4, 0), 2);
		const ends = await cluster.ends({ "node-a": 1, "node-b": 1 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain("the budget of 1 restart is spent");
			expect(stderr).toMatch(
				/^root cause: rank 0 on .*, round 4: exit code 2$/m,
			);
		}
	});

	it("D6 J5 is not charged by a coordinator that is killed while a round is being left, which costs no round", async (context) => {
		const flags = ["--shutdown-timeout", "1h"];
		const worker = ["obeys.sh", "stubborn"] as const;
		const options = { nodes: "2:3", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		await cluster.form("node-a", "node-b", "node-c");
		const coordinator = (await cluster.store.coordinator()) ?? "";
		const [fails, lingers] = cluster.site
			.workers(1)
			.filter(({ env }) => env.ELASTIC_RUN_NODE_ID !== coordinator);
		if (!fails || !lingers) throw new Error("there are not two of them");
		tell(fails, 5);
		await cluster.store.sawRound(
			"round 1 to be left",
			({ deprecated }) => deprecated === 1,
		);
		await cluster.vanish(coordinator);
		tell(lingers, 0);
		const left = [fails, lingers].map(
			({ env }) => env.ELASTIC_RUN_NODE_ID ?? "",
		);
		await cluster.world(2, ...left);
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 2, charged: 0, incidents: 0 },
			cause: { reason: killed(coordinator) },
		});
		cluster.succeed(2);
		await cluster.ends(Object.fromEntries(left.map((nodeId) => [nodeId, 0])));
	});
});
