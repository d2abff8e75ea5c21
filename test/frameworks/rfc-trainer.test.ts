import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { isAlive, signalProcess } from "../helpers/processes.js";
import {
	needModules,
	PYTHON,
	TorchTrainers,
} from "../helpers/torch-trainers.js";

const etcd = etcdForAll();
const LIMIT_MS = 600_000;
const env = { PYTHON_EXEC: PYTHON };

function rfcCluster(nodes: string, ...args: readonly string[]) {
	const cluster = new Cluster(etcd(), {
		nodes,
		conf: { last_call_timeout: 1, lease_ttl: 5 },
		flags: ["--restart-policy", "soft", "--max-restarts", "5"],
		// More steps than a test waits for.
		worker: ["../../../examples/rfc_trainer.py", "--steps", "1000000", ...args],
	});
	const agents = ["node-a", "node-b"].map((nodeId) =>
		cluster.agent(nodeId, { env }),
	);
	return { cluster, agents, trainers: new TorchTrainers(() => agents) };
}

// Both patterns stand in one trainer: each scenario plays another one.
it(
	"T4 T7 T17 rfc_trainer.py asks at once: a node joins, one is killed, one leaves and comes back; steps go on from memory",
	async (context) => {
		needModules(context, "torch", "numpy");
		const { cluster, agents, trainers } = rfcCluster("1:3");
		const [, second = ""] = await cluster.store.sawMembers(1);
		const [survivor] = await trainers.trainsAfter(0, 2);
		if (survivor === undefined) throw new Error("no worker");

		agents.push(cluster.agent("node-c", { env }));
		const three = await trainers.trainsAfter(survivor.round, 3);
		await cluster.kill(second);
		const two = await trainers.trainsAfter(three[0]?.round ?? 0, 2);
		cluster.launchOf("node-c").signal("SIGTERM");
		await cluster.ends({ "node-c": 143 });
		const one = await trainers.trainsAfter(two[0]?.round ?? 0, 1);
		agents.push(cluster.agent("node-c"));
		const again = await trainers.trainsAfter(one[0]?.round ?? 0, 2);

		for (const world of [three, two, one, again]) {
			expect(world.map(({ pid }) => pid)).toContain(survivor.pid);
		}
		expect(again[0]?.step).toBeGreaterThan(0);
		trainers.expectNoStepLost();
		trainers.expectLossContinues();
		expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
		await cluster.stop();
	},
	LIMIT_MS,
);

it(
	"T4 T17 rfc_trainer.py polls until the pause is over: a neighbour's worker fails three times, then two change at once",
	async (context) => {
		needModules(context, "torch", "numpy");
		const { cluster, agents, trainers } = rfcCluster("2:3", "--poll");
		await cluster.store.sawMembers(1);
		let world = await trainers.trainsAfter(0, 2);
		const [survivor] = world;
		if (survivor === undefined) throw new Error("no worker");
		for (const failure of [1, 2, 3]) {
			signalProcess(world[1]?.pid, "SIGKILL");
			world = await trainers.trainsAfter(world[0]?.round ?? 0, 2);
			expect(world[0]?.pid, `after failure ${failure}`).toBe(survivor.pid);
		}
		// The second change comes before those of the first have met.
		const failed = world[1]?.pid;
		signalProcess(failed, "SIGKILL");
		agents.push(cluster.agent("node-c", { env }));
		const three = await trainers.trainsAfter(world[0]?.round ?? 0, 3);
		expect(three[0]?.pid).toBe(survivor.pid);
		expect(isAlive(survivor.pid)).toBe(true);
		trainers.expectNoStepLost();
		trainers.expectLossContinues();
		await cluster.stop();
	},
	LIMIT_MS,
);
