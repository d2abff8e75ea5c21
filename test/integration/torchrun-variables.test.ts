import { describe, expect, it } from "vitest";
import { needEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { job, openSite } from "../helpers/launch.js";
import { releaseWorkers, sawLives } from "../helpers/lives.js";

type Variables = Readonly<Record<string, string>>;

/** The environment of a pod, by its number and the port of the first one. */
const PODS: readonly [string, (pod: number, port: number) => Variables][] = [
	[
		"an elastic PyTorchJob",
		(_, port) => ({
			PET_RDZV_BACKEND: "c10d",
			PET_RDZV_ENDPOINT: `127.0.0.1:${port}`,
			PET_NNODES: "2:2",
			PET_NPROC_PER_NODE: "2",
			PET_MAX_RESTARTS: "3",
			PET_RDZV_CONF: "last_call_timeout=5",
		}),
	],
	[
		"a PyTorchJob with a master",
		(pod, port) => ({
			MASTER_ADDR: "127.0.0.1",
			MASTER_PORT: String(port),
			WORLD_SIZE: "2",
			RANK: String(pod),
			PET_NNODES: "2",
			PET_NPROC_PER_NODE: "2",
			PET_NODE_RANK: String(pod),
			PET_MASTER_ADDR: "127.0.0.1",
			PET_MASTER_PORT: String(port),
		}),
	],
	[
		"a TrainJob of the Trainer v2",
		(pod, port) => ({
			PET_NNODES: "2",
			PET_NPROC_PER_NODE: "2",
			PET_NODE_RANK: String(pod),
			PET_MASTER_ADDR: "127.0.0.1",
			PET_MASTER_PORT: String(port),
		}),
	],
];

it("torchrun's own line for one node runs without an etcd", async () => {
	const { exitCode, stdout, stderr } = await openSite().launch([
		...["--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--nnodes=1"],
		...["--nproc-per-node=2", "sh", "-c", "echo rank $RANK of $WORLD_SIZE"],
	]).ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout).toContain("rank 0 of 2\n");
	expect(stdout).toContain("rank 1 of 2\n");
});

it("a free port is refused where two nodes meet", async () => {
	const { exitCode, stderr } = await openSite().launch([
		...["--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--nnodes=2"],
		"true",
	]).ended;
	expect(exitCode).toBe(2);
	expect(stderr).toMatch(/port 0 is out of range where nodes meet, because/);
});

describe("torchrun's variables alone", () => {
	it.each(PODS)("bring together the pods of %s", async (_, variables) => {
		needEtcd();
		const site = openSite();
		const port = await freePort();
		const launches = [0, 1].map((pod) =>
			site.launch([job("beats.js")], {
				env: { ELASTIC_RUN_NODE_ID: "", ...variables(pod, port) },
			}),
		);
		const lives = await sawLives(site, 4, { round: 1 });
		expect(lives.map(({ rank }) => rank).sort()).toEqual([0, 1, 2, 3]);
		const workers = await site.sawWorkers(4, 1);
		for (const { env } of workers) {
			expect(env).toMatchObject({ WORLD_SIZE: "4", PET_NPROC_PER_NODE: "2" });
		}
		releaseWorkers(site);
		for (const { ended } of launches) {
			const { exitCode, stderr } = await ended;
			expect(exitCode, stderr).toBe(0);
			expect(stderr).not.toContain("no effect");
		}
	});
});
