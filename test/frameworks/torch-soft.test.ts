import { join } from "node:path";
import { expect, it } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";
import { isAlive, signalProcess } from "../helpers/processes.js";
import { needTorch, PYTHON, TorchTrainers } from "../helpers/torch-trainers.js";

const etcd = etcdForAll();
const LIMIT_MS = 600_000;
// torch does not need numpy, and does not bring it.
const PYTHONPATH = join(
	import.meta.dirname,
	"../fixtures/python/without-numpy",
);
const env = { PYTHON_EXEC: PYTHON, PYTHONPATH };

it(
	"T4 T5 T17 torch_soft.py: a node is frozen while the others wait for it, comes back, and is killed",
	async (context) => {
		needTorch(context);
		const cluster = new Cluster(etcd(), {
			nodes: "1:2",
			conf: { lease_ttl: 3 },
			flags: ["--restart-policy", "soft"],
			// More steps than a test waits for.
			worker: ["../../../examples/torch_soft.py", "--steps", "1000000"],
		});
		const agents = ["node-a", "node-b"].map((nodeId) =>
			cluster.agent(nodeId, { env }),
		);
		const trainers = new TorchTrainers(() => agents);
		const [, second] = await cluster.store.sawMembers(1);
		const [survivor, frozen] = await trainers.trainsAfter(0, 2);
		if (!survivor || !frozen || !second) throw new Error("no worker");

		// Its connections stay, so that nothing but PAUSE ends what the other one waits for.
		cluster.freeze(second);
		signalProcess(frozen.pid, "SIGSTOP");
		const [alone] = await trainers.trainsAfter(survivor.round, 1);
		expect(alone?.pid).toBe(survivor.pid);

		signalProcess(frozen.pid, "SIGCONT");
		cluster.thaw(second);
		const both = await trainers.trainsAfter(alone?.round ?? 0, 2);
		expect(both.map(({ pid }) => pid)).toEqual([survivor.pid, frozen.pid]);

		await cluster.kill(second);
		const last = await trainers.trainsAfter(both[0]?.round ?? 0, 1);
		expect(last.map(({ pid }) => pid)).toEqual([survivor.pid]);
		expect(isAlive(frozen.pid)).toBe(false);

		trainers.expectNoStepLost();
		trainers.expectLossContinues();
		expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
		await cluster.stop();
	},
	LIMIT_MS,
);

it(
	"T11 T17 torch_soft.py: a run whose worker was killed learns to read digits all the same",
	async (context) => {
		needTorch(context);
		const site = openSite();
		const flags = ["--restart-policy", "soft-replace", "--nproc-per-node", "2"];
		// Enough steps that the kill comes before the last of them.
		const script = [example("torch_soft.py"), "--steps", "2000"];
		const launch = site.launch([...flags, ...script], { env });
		const trainers = new TorchTrainers(() => [launch]);
		const first = await trainers.trainsAfter(0, 2);
		signalProcess(first[0]?.pid, "SIGKILL");
		const { exitCode, stderr } = await launch.ended;
		expect(exitCode, stderr).toBe(0);
		// Rank 0 is the new one: the survivor's state came to it.
		const second = trainers.begun(2);
		expect(second[1]?.pid).toBe(first[1]?.pid);
		trainers.expectNoStepLost();
		expect(trainers.accuracy()).toBeGreaterThan(0.9);
	},
	LIMIT_MS,
);
