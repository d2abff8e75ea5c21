import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import { job } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

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
			expect(stderr).toContain("the budget of 1 restarts is spent");
			expect(stderr).toMatch(
				/^root cause: rank 0 on .*, round 4: exit code 2$/m,
			);
		}
	});

	it("T6 of a node outlives its agent; spent, the node leaves with 75, whatever process it has, and the others go on", async (context) => {
		const policy = ["--restart-policy", job("node-pays-policy.js")];
		const flags = [...policy, "--max-restarts", "1"];
		const cluster = new Cluster(etcd(), { nodes: "1:2", flags }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 1), 1);
		await cluster.world(2, first, second);
		await cluster.kill(second);
		cluster.agent(second);
		await cluster.world(3, first, second);
		tell(cluster.worker(3, 1), 1);
		const spent = `${second} has used up its budget of 1 restarts; a node of another --node-id may take its place`;
		const { [second]: left } = await cluster.ends({ [second]: 75 });
		expect(left?.stderr).toContain(`\nroot cause: rank 1 on ${second} (pid `);
		expect(left?.stderr).toContain(
			`\nrestarts: 1 of 1 used; this node: 0 of 1 left\nended: ${spent}\n`,
		);
		await cluster.world(4, first);
		cluster.agent(second);
		const { [second]: refused } = await cluster.ends({ [second]: 75 });
		expect(refused?.stderr).toContain(spent);
		cluster.succeed(4);
		await cluster.ends({ [first]: 0 });
	});
});

describe("the run's state", { concurrent: true }, () => {
	it("D6 J5 is enough for who coordinates next: a coordinator killed while a round is being left costs no round", async (context) => {
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
			cause: { reason: `${coordinator} left: lease expired` },
		});
		cluster.succeed(2);
		await cluster.ends(Object.fromEntries(left.map((nodeId) => [nodeId, 0])));
	});

	it("D7 where nobody can read it is a safe stop, with its reason", async (context) => {
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
