import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";

const NODES = ["node-a", "node-b", "node-c"] as const;

const etcd = etcdForAll();

describe("J10 the end of a run", { concurrent: true }, () => {
	it("comes when the last agent has finished; one that is killed after it has finished holds nobody", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "3" }, context);
		const [first, second, third] = await cluster.form(...NODES);
		tell(cluster.worker(1, 1), 0);
		await cluster.store.sawNode(second, "finished");
		await cluster.vanish(second);
		tell(cluster.worker(1, 0), 0);
		await cluster.store.sawNode(first, "finished");
		expect(cluster.launchOf(first).hasEnded).toBe(false);
		tell(cluster.worker(1, 2), 0);
		const ends = await cluster.ends({ [first]: 0, [third]: 0 });
		expect(ends[first]?.stderr).toContain("succeeded: 1 round, 0 restarts");
		expect(cluster.site.workers()).toHaveLength(3);
	});

	it("is put off where a worker fails when others have finished: all of them start again", async (context) => {
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

	it("is not held up by an agent that is killed while others wait for it", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1:2" }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 1), 0);
		await cluster.store.sawNode(second, "finished");
		await cluster.vanish(first);
		await cluster.world(2, second);
		cluster.succeed(2);
		const ends = await cluster.ends({ [second]: 0 });
		expect(ends[second]?.stderr).toContain("succeeded: 2 rounds, 0 restarts");
	});
});

describe("a run that fails", { concurrent: true }, () => {
	it("J8 does so with one reason and one exit code on every agent, late comers too", async (context) => {
		const flags = [
			...["--max-restarts", "1", "--output", "json"],
			...["--shutdown-timeout", "1h"],
		];
		const worker = ["obeys.sh", "stubborn"] as const;
		// The workers that are left mind no signal: the run is over when their time to be ready is.
		const conf = { settle_timeout: 2 };
		const options = { nodes: "2:3", flags, worker, conf };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second, third] = await cluster.form(...NODES);
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
				reason: `${where}: exit code 9; the budget of 1 restarts is spent`,
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

	it("J9 is one whose workers fail as soon as they start: they are counted until the budget is spent", async (context) => {
		const flags = ["--max-restarts", "2"];
		const worker = ["exits-with.sh", "0:9", "1:9"] as const;
		const options = { nodes: "2", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		for (const nodeId of ["node-a", "node-b"]) cluster.agent(nodeId);
		const ends = await cluster.ends({ "node-a": 1, "node-b": 1 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain("restarts: 2 of 2 used");
			expect(stderr).toMatch(
				/^root cause: rank [01] on node-[ab] .*, round 3: exit code 9$/m,
			);
		}
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 3, incidents: 3 },
		});
		await cluster.site.isSwept();
	});
});

describe("a signal to an agent", { concurrent: true }, () => {
	it("T5 means that its node leaves, and the run goes on to its end", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1:3" }, context);
		const [first, second, third] = await cluster.form(...NODES);
		cluster.launchOf(first).signal("SIGTERM");
		const { [first]: left } = await cluster.ends({ [first]: 143 });
		expect(left?.stderr).toContain(`run ${cluster.store.runId} left: SIGTERM`);
		await cluster.world(2, second, third);
		const round = await cluster.store.round();
		expect(round?.cause.reason).toBe(`${first} left: SIGTERM`);
		cluster.succeed(2);
		const ends = await cluster.ends({ [second]: 0, [third]: 0 });
		expect(ends[third]?.stderr).toContain("succeeded: 2 rounds, 0 restarts");
	});

	it("T5 T6 to all of them, and to so many that fewer than MIN are left", async (context) => {
		const conf = { join_timeout: 8, last_call_timeout: 1, settle_timeout: 1 };
		const cluster = new Cluster(etcd(), { nodes: "2", conf }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		await cluster.stop();
		for (const nodeId of [first, second]) cluster.agent(nodeId);
		await cluster.newestWorld(first, second);
		cluster.launchOf(second).signal("SIGINT");
		const ends = await cluster.ends({ [second]: 130, [first]: 3 });
		expect(ends[first]?.stderr).toContain(`missing: ${second}`);
		expect(ends[first]?.stderr).toContain(`${second} left: SIGINT`);
		await cluster.site.isSwept();
	});
});
