import { expect, it } from "vitest";
import type { RunHistory } from "../../src/status/history.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

it("history of a run in etcd: its rounds, the failure and the node that was lost, how fast both were repaired", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	tell(cluster.worker(1, 1), 7);
	await cluster.world(2, first, second);
	for (const node of [first, second]) {
		await cluster.store.sawNode(node, "running");
	}
	await cluster.vanish(second);
	await cluster.world(3, first);
	await cluster.store.sawNode(first, "running");
	const ask = async (...args: string[]) => {
		const at = ["--rdzv-endpoint", etcd().endpoint];
		const words = ["history", cluster.store.runId, ...at, ...args];
		return cluster.site.launch(words).ended;
	};
	const { exitCode, stdout } = await ask("--output", "json");
	expect(exitCode).toBe(0);
	const told: RunHistory & { place: string } = JSON.parse(stdout);
	expect(told).toMatchObject({
		...{ version: 1, runId: cluster.store.runId, place: etcd().endpoint },
		instances: [
			{
				...{ outcome: null, endedAt: null, incidents: 1 },
				repairs: { count: 2, meanMs: expect.any(Number) },
				rounds: [
					{ round: 1, cause: { kind: "start" }, joined: [first, second] },
					{
						...{ round: 2, joined: [], left: [] },
						cause: {
							kind: "failure",
							root: { rank: 1, exitCode: 7, pid: cluster.worker(1, 1).pid },
						},
						phases: {
							...{ stopMs: expect.any(Number), readyMs: expect.any(Number) },
							...{ barrierMs: expect.any(Number), startMs: expect.any(Number) },
						},
					},
					{
						...{ round: 3, members: [first], left: [second], endedAt: null },
						cause: { kind: "scale-down", root: null },
						ranMs: expect.any(Number),
					},
				],
			},
		],
	});
	const share = told.instances[0]?.ranShare ?? 0;
	expect(share).toBeGreaterThan(0);
	expect(share).toBeLessThan(1);
	cluster.succeed(3);
	await cluster.ends({ [first]: 0 });
	const text = await ask();
	expect(text.stdout).toContain("succeeded after ");
	expect(text.stdout).toContain("mean time to repair ");
	expect(text.stdout).toContain(`rank 1 on ${second}: exit code 7`);
});

it("history of a run without a store, while it lives; without a name, and of no run, it is refused", async () => {
	const site = openSite();
	const launch = site.launch(["--run-id", "alone", job("works.sh")]);
	await site.sawWorkers(1);
	await launch.saw("stderr", "round 1: started 1 of 1 workers");
	const none = await site.launch(["history"]).ended;
	expect([none.exitCode, none.stdout]).toEqual([2, ""]);
	expect(none.stderr).toContain("name a run");
	const memory = ["--rdzv-backend", "memory"];
	const other = await site.launch(["history", "other", ...memory]).ended;
	expect(other.exitCode).toBe(1);
	expect(other.stderr).toContain("there is no run other on this machine");
	const { exitCode, stdout } = await site.launch(["history", "alone"]).ended;
	expect(exitCode).toBe(0);
	expect(stdout).toMatch(/^run alone\n\nbegun .*\n {2}1 round, 0 incidents/);
});
