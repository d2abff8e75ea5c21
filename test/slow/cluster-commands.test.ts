import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

describe("the same command", { concurrent: true }, () => {
	it("twice at once, with one log directory: two nodes with logs of their own, and two spares where it is given four times", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		const logs = cluster.site.logs;
		const env = { ELASTIC_RUN_NODE_ID: "", ELASTIC_RUN_LOG_DIR: logs };
		const launches = ["a", "b", "c", "d"].map((name) =>
			cluster.agent(name, { env, nproc: 2 }),
		);
		const workers = await cluster.site.sawWorkers(4, 1);
		const instance = workers[0]?.env.ELASTIC_RUN_INSTANCE ?? "";
		const nodeIds = new Set(workers.map(({ env }) => env.ELASTIC_RUN_NODE_ID));
		expect(nodeIds.size).toBe(2);
		for (const { pid, env } of workers) {
			const folder = join(env.TORCHELASTIC_ERROR_FILE ?? "", "..");
			expect(folder).toBe(
				join(
					...[logs, cluster.store.runId, instance],
					...[env.ELASTIC_RUN_NODE_ID ?? "", "round-1", env.LOCAL_RANK ?? ""],
				),
			);
			expect(existsSync(join(folder, "stdout.log")), String(pid)).toBe(true);
		}
		cluster.succeed(1);
		for (const { ended } of launches) expect((await ended).exitCode).toBe(0);
		expect(cluster.site.workers()).toHaveLength(4);
	});

	it("again when the run has ended begins a new one, with round numbers that go on and a fresh budget", async (context) => {
		const flags = ["--max-restarts", "0"];
		const cluster = new Cluster(etcd(), { nodes: "2", flags }, context);
		await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 0), 4);
		await cluster.ends({ "node-a": 1, "node-b": 1 });
		const before = cluster.worker(1, 0).env;

		for (const nodeId of ["node-a", "node-b"]) cluster.agent(nodeId);
		await cluster.newestWorld("node-a", "node-b");
		const after = cluster.worker(2, 0).env;
		expect(Number(after.ELASTIC_RUN_INSTANCE)).toBeGreaterThan(
			Number(before.ELASTIC_RUN_INSTANCE),
		);
		expect(after.TORCHELASTIC_RESTART_COUNT).toBe("0");
		cluster.succeed(2);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		expect(ends["node-a"]?.stderr).toContain("succeeded: 1 round, 0 restarts");
		const log = join(before.TORCHELASTIC_ERROR_FILE ?? "", "..", "stdout.log");
		expect(readFileSync(log, "utf8")).toBe("");
	});
});

/** How many requests have come to etcd over streams of watches: each is the making or the end of one. */
async function watchRequests(): Promise<number> {
	const answer = await fetch(`http://${etcd().endpoint}/metrics`);
	const line =
		/^grpc_server_msg_received_total\{grpc_method="Watch",.*\} (\d+)$/m;
	return Number(line.exec(await answer.text())?.[1]);
}

it("J16 restarts of a run's workers make no new watches in the store", async () => {
	const flags = ["--max-restarts", "10"];
	const cluster = new Cluster(etcd(), { nodes: "2", flags });
	const [first, second] = await cluster.form("node-a", "node-b");
	// An agent that answers has opened all its watches.
	const { site, store } = cluster;
	const endpoint = ["--rdzv-endpoint", etcd().endpoint];
	const why = await site.launch(["why", store.runId, ...endpoint]).ended;
	expect(why.exitCode, why.stderr).toBe(0);
	const before = await watchRequests();
	expect(before).toBeGreaterThan(0);
	for (const round of [1, 2, 3]) {
		tell(cluster.worker(round, round % 2), 1);
		await cluster.world(round + 1, first, second);
	}
	expect(await watchRequests()).toBe(before);
	await cluster.stop();
});
