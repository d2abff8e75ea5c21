import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";

const etcd = etcdForAll();

it("J10 agents finish at different times; one that is killed after it has finished holds nobody", async () => {
	const cluster = new Cluster(etcd(), { nodes: "3" });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const [one, two, three] = cluster.site.workers(1);
	if (!one || !two || !three) throw new Error("no worker");
	cluster.tell(two, 0);
	await cluster.store.sawNode(second, "finished");
	await cluster.vanish(second);
	cluster.tell(one, 0);
	await cluster.store.sawNode(first, "finished");
	expect(cluster.launchOf(first).hasEnded).toBe(false);
	cluster.tell(three, 0);
	const ends = await cluster.ends({ [first]: 0, [third]: 0 });
	expect(ends[first]?.stderr).toContain("succeeded: 1 round, 0 restarts");
	expect(cluster.site.workers()).toHaveLength(3);
});

it("J10 a worker that fails when others have finished starts all of them again", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const [one, two] = cluster.site.workers(1);
	if (!one || !two) throw new Error("no worker");
	cluster.tell(one, 0);
	await cluster.store.sawNode(first, "finished");
	cluster.tell(two, 1);
	for (const worker of await cluster.world(2, first, second)) {
		cluster.tell(worker, 0);
	}
	const ends = await cluster.ends({ [first]: 0, [second]: 0 });
	expect(ends[first]?.stderr).toContain("succeeded: 2 rounds, 1 restart");
});

it("J10 an agent killed while others wait for its end does not hold them", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const [, two] = cluster.site.workers(1);
	if (!two) throw new Error("no worker");
	cluster.tell(two, 0);
	await cluster.store.sawNode(second, "finished");
	await cluster.vanish(first);
	const [again] = await cluster.world(2, second);
	if (again) cluster.tell(again, 0);
	const ends = await cluster.ends({ [second]: 0 });
	expect(ends[second]?.stderr).toContain("succeeded: 2 rounds, 0 restarts");
});

it("J8 a spent budget fails the run with one reason and one exit code on every agent, late comers too", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2:3",
		flags: [
			...["--max-restarts", "1", "--output", "json"],
			...["--shutdown-timeout", "1h"],
		],
		worker: ["obeys.js", "stubborn"],
	});
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const before = cluster.site.workers(1);
	for (const worker of before) cluster.tell(worker, 1);
	const workers = await cluster.world(2, first, second, third);
	const [one, two, three] = workers;
	if (!one || !two || !three) throw new Error("no worker");
	cluster.tell(two, 9);
	await cluster.ends({ [second]: 1 });
	// The last one's worker minds no signal, so that the run is there for late comers.
	cluster.tell(one, 0);
	await cluster.ends({ [first]: 1 });
	cluster.agent("node-d");
	await cluster.ends({ "node-d": 1 });
	cluster.tell(three, 0);
	const ends = await cluster.ends({
		[first]: 1,
		[second]: 1,
		[third]: 1,
		"node-d": 1,
	});
	const results = Object.values(ends).map(({ stdout }) => JSON.parse(stdout));
	for (const { outcome, reason, rootCause, restarts } of results) {
		expect(outcome).toBe("failed");
		expect(reason).toBe(
			`rank 1 on ${second}: exit code 9; the budget of 1 restarts is spent`,
		);
		expect(rootCause.failure).toMatchObject({
			...{ nodeId: second, rank: 1, round: 2, exitCode: 9, pid: two.pid },
		});
		expect(restarts).toEqual({ used: 1, allowed: 1 });
	}
	for (const { stderr } of Object.values(ends)) {
		expect(stderr).toContain(
			`root cause: rank 1 on ${second} (pid ${two.pid}), round 2: exit code 9`,
		);
	}
});

it("J9 workers that fail as soon as they start are counted until the budget is spent", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2",
		flags: ["--max-restarts", "2"],
		worker: ["exits-with.js", "0:9", "1:9"],
	});
	for (const nodeId of ["node-a", "node-b"]) cluster.agent(nodeId);
	const ends = await cluster.ends({ "node-a": 1, "node-b": 1 });
	for (const { stderr } of Object.values(ends)) {
		expect(stderr).toContain("restarts: 2 of 2 used");
		expect(stderr).toMatch(
			/^root cause: rank [01] on node-[ab] .*, round 3: exit code 9$/m,
		);
	}
	expect(await cluster.store.round()).toMatchObject({
		synced: 3,
		incidents: 3,
	});
	await cluster.site.isSwept();
});

it("T5 SIGTERM to one agent: this node leaves, and the run goes on to its end", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:3" });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	cluster.launchOf(first).signal("SIGTERM");
	await cluster.ends({ [first]: 143 });
	const workers = await cluster.world(2, second, third);
	expect((await cluster.store.round())?.cause.reason).toBe(
		`${first} left: SIGTERM`,
	);
	for (const worker of workers) cluster.tell(worker, 0);
	const ends = await cluster.ends({ [second]: 0, [third]: 0 });
	expect(ends[third]?.stderr).toContain("succeeded: 2 rounds, 0 restarts");
});

it("T5 T6 SIGTERM to all agents, and to all but MIN of them", async () => {
	const conf = { join_timeout: 3, last_call_timeout: 1, settle_timeout: 1 };
	const cluster = new Cluster(etcd(), { nodes: "2", conf });
	const [first, second] = await cluster.form("node-a", "node-b");
	await cluster.stop();
	for (const nodeId of [first, second]) cluster.agent(nodeId);
	await cluster.newestWorld(first, second);
	cluster.launchOf(second).signal("SIGINT");
	const ends = await cluster.ends({ [second]: 130, [first]: 3 });
	console.log(ends[first]?.stderr, ends[second]?.stderr);
	await cluster.site.isSwept();
});
