import { describe, expect, it } from "vitest";
import type { StopReport } from "../../src/operate/stop-run.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

async function stop(cluster: Cluster, ...args: readonly string[]) {
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const words = ["stop", cluster.store.runId, ...at, ...args];
	return cluster.site.launch(words).ended;
}

describe("stop of a run in etcd", { concurrent: true }, () => {
	it("ends it on every node with exit code 5, spares too, and waits until all are gone", async (context) => {
		const options = { nodes: "1:2" };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		cluster.agent("node-c");
		await cluster.store.sawNode("node-c", "ready");
		const { exitCode, stdout } = await stop(cluster, "--output", "json");
		const ends = await cluster.ends({ [first]: 5, [second]: 5, "node-c": 5 });
		const report: StopReport = JSON.parse(stdout);
		expect(report).toMatchObject({
			...{ version: 1, runId: cluster.store.runId, place: etcd().endpoint },
			...{ hadEnded: false, left: [] },
			outcome: { result: "stopped", exitCode: 5, root: null },
		});
		expect(exitCode).toBe(0);
		const reason = report.outcome?.reason ?? "";
		expect(reason).toMatch(/^elastic-run stop by .+ on .+$/);
		expect(ends[second]?.stderr).toContain(
			`run ${cluster.store.runId} stopped: ${reason}`,
		);
		expect(await cluster.store.history()).toMatchObject([
			{ round: 1, outcome: "stopped", ending: reason },
		]);
		await cluster.site.isSwept();
		const again = await stop(cluster);
		expect(again.exitCode).toBe(0);
		expect(again.stdout).toContain("had ended before, stopped: elastic-run");
	});

	it("says who did not go in time", async (context) => {
		const flags = ["--shutdown-timeout", "1h"];
		const worker = ["obeys.sh", "stubborn"] as const;
		const options = { nodes: "2", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		const unwaited = await stop(cluster, "--no-wait");
		expect(unwaited.exitCode).toBe(0);
		expect(unwaited.stdout).toContain("2 nodes about to go");
		tell(cluster.worker(1, 0), 0);
		await cluster.ends({ [first]: 5 });
		const { exitCode, stdout, stderr } = await stop(cluster, "--timeout", "1");
		expect(exitCode).toBe(1);
		expect(stderr).toContain(`waiting for ${second} to go, at most 1.0 s`);
		expect(stdout).toContain("1 node did not go in time\n");
		const { pid } = cluster.launchOf(second);
		expect(stdout).toContain(`  ${second}: stopping, launcher ${pid} on `);
		tell(cluster.worker(1, 1), 0);
		await cluster.ends({ [second]: 5 });
	});

	it("ends one that waits for nodes, and one of which nobody is left", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2" }, context);
		cluster.agent("node-a");
		await cluster.store.sawNode("node-a", "ready");
		expect((await stop(cluster)).exitCode).toBe(0);
		await cluster.ends({ "node-a": 5 });

		cluster.agent("node-a");
		await cluster.store.sawNode("node-a", "ready");
		await cluster.vanish("node-a");
		const { exitCode, stdout } = await stop(cluster);
		expect(exitCode).toBe(0);
		expect(stdout).toContain("no agent is left");
		expect((await cluster.store.round())?.outcome?.result).toBe("stopped");
	});

	it("knows no other run, and refuses a time that is none", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1" }, context);
		const unknown = await stop(cluster);
		expect(unknown.exitCode).toBe(1);
		expect(unknown.stderr).toContain("there is no run cluster-");
		const wrong = await stop(cluster, "--timeout", "soon");
		expect(wrong.exitCode).toBe(2);
		expect(wrong.stderr).toContain('--timeout: "soon" is not a duration');
	});
});

it.each([
	"hard",
	"soft",
])("stop of a run without a store, policy %s: its launcher exits with 5", async (policy) => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "2", "--restart-policy", policy],
		...["--run-id", "alone", job("works.sh")],
	]);
	await site.sawWorkers(2);
	await launch.saw("stderr", "round 1: started 2 of 2 workers");
	const { exitCode, stdout, stderr } = await site.launch([
		...["stop", "alone", "--output", "json"],
	]).ended;
	expect(exitCode, stderr).toBe(0);
	expect(await launch.ended).toMatchObject({ exitCode: 5 });
	expect(launch.output.stderr).toContain("run alone stopped: elastic-run stop");
	const report: StopReport = JSON.parse(stdout);
	expect(report).toMatchObject({
		...{ runId: "alone", hadEnded: false, left: [] },
		outcome: { result: "stopped", exitCode: 5 },
	});
	await site.isSwept();
});
