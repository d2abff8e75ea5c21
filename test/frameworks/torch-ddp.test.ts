import { expect, it } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { LIBRARY } from "../fixtures/python/start-python.js";
import { Cluster, type ClusterOptions } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { type Launch, openSite } from "../helpers/launch.js";
import { signalProcess } from "../helpers/processes.js";
import { needTorch, PYTHON, TorchTrainers } from "../helpers/torch-trainers.js";

const etcd = etcdForAll();
const LIMIT_MS = 600_000;
const BOUND_MS = 240_000;
const env = { PYTHON_EXEC: PYTHON };
/** In the folder in which all workers of a test run. */
const CHECKPOINTS = ["--checkpoint", "digits", "--checkpoint-every", "20"];

/** Two agents of a run of examples/torch_ddp.py. */
function ddpCluster(
	options: Omit<ClusterOptions, "worker"> & { readonly nproc: number },
	...args: readonly string[]
) {
	const cluster = new Cluster(etcd(), {
		...options,
		worker: ["../../../examples/torch_ddp.py", ...args],
	});
	const agents = ["node-a", "node-b"].map((nodeId) =>
		cluster.agent(nodeId, { env, nproc: options.nproc }),
	);
	const trainers = new TorchTrainers(() => agents);
	return { cluster, agents, trainers };
}

/** What a process of the script says when it begins. */
interface Beginning {
	readonly pid: number;
	readonly rank: number;
	readonly worldSize: number;
	readonly step: number;
}

function beginnings(agents: readonly Launch[]): readonly Beginning[] {
	const line = /pid (\d+) rank (\d+) of (\d+) begins at step (\d+)$/gm;
	const output = agents.map(({ output }) => output.stdout).join("");
	return [...output.matchAll(line)].map(([, ...numbers]) => {
		const [pid = 0, rank = 0, worldSize = 0, step = 0] = numbers.map(Number);
		return { pid, rank, worldSize, step };
	});
}

const reaches = (trainers: TorchTrainers, step: number) =>
	poll(`step ${step}`, BOUND_MS, async () =>
		trainers.losses().find((one) => one.step >= step),
	);

it(
	"J6 a PyTorch script with checkpoints under two agents: a worker is killed, all begin again at the checkpoint, and finish",
	async (context) => {
		needTorch(context);
		const { cluster, agents, trainers } = ddpCluster(
			{ nodes: "2", nproc: 2 },
			...["--steps", "400", ...CHECKPOINTS],
		);
		await reaches(trainers, 60);
		// Each node has a launcher of its own, which may show its lines later.
		const first = await poll("four beginnings", BOUND_MS, async () => {
			const all = beginnings(agents);
			return all.length === 4 ? all : undefined;
		});
		const victim = first.find(({ rank }) => rank === 3);
		signalProcess(victim?.pid, "SIGKILL");

		await cluster.ends({ "node-a": 0, "node-b": 0 });
		const pids = first.map(({ pid }) => pid);
		const second = beginnings(agents).filter(({ pid }) => !pids.includes(pid));
		for (const world of [first, second]) {
			expect(world.map(({ rank }) => rank).sort()).toEqual([0, 1, 2, 3]);
			expect(new Set(world.map(({ step }) => step)).size).toBe(1);
		}
		expect(second[0]?.step).toBeGreaterThanOrEqual(40);
		trainers.expectLossContinues();
		expect(trainers.accuracy()).toBeGreaterThan(0.9);
		const round = await cluster.store.round();
		expect(round).toMatchObject({ synced: 2, incidents: 1 });
	},
	LIMIT_MS,
);

it(
	"the same PyTorch script learns the same under torchrun and under elastic-run",
	async (context) => {
		needTorch(context);
		const site = openSite();
		const flags = ["--standalone", "--nproc-per-node", "2"];
		const script = [example("torch_ddp.py"), "--steps", "60"];
		const accuracyIn = (output: string) =>
			/final accuracy (0\.\d{4}) after 60 steps/.exec(output)?.[1];
		const ours = await site.launch([...flags, ...script], { env }).ended;
		expect(ours.exitCode, ours.stderr).toBe(0);
		const words = ["-m", "torch.distributed.run", ...flags, ...script];
		const torchrun = await site.start(PYTHON, words, {
			env: { PYTHONPATH: LIBRARY },
		}).ended;
		expect(torchrun.exitCode, torchrun.stderr).toBe(0);
		expect(accuracyIn(ours.stdout)).toBeDefined();
		expect(accuracyIn(ours.stdout)).toBe(accuracyIn(torchrun.stdout));
	},
	LIMIT_MS,
);
