import { cpSync, renameSync, rmSync } from "node:fs";
import { describe, expect, it, type TestContext } from "vitest";
import { Cluster, type ClusterOptions } from "../helpers/cluster.js";
import {
	type EtcdNode,
	type EtcdServer,
	openEtcd,
	startEtcdCluster,
} from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";

const NODES = ["node-a", "node-b"] as const;
const LOST = "the store is lost, and is tried again: ";
const BACK = "the store is back after ";
const FENCED = "RUNNING→STOPPING this node's lease was not confirmed for";
/** Longer than anything here takes. */
const LONG_TTL = 40;
/** So long that no agent of a busy machine misses its keepalives. */
const SHORT_TTL = 5;
const IMPATIENT = { settle_timeout: 0.5, last_call_timeout: 0.5 };

/** How an etcd goes away and comes back. */
const WAYS: readonly [
	how: string,
	takeAway: (etcd: EtcdServer) => unknown,
	bringBack: (etcd: EtcdServer) => unknown,
][] = [
	["killed", (etcd) => etcd.kill(), (etcd) => etcd.restart()],
	["frozen", (etcd) => etcd.suspend(), (etcd) => etcd.resume()],
];

/** One that no other test is disturbed by. */
async function ownEtcd(context: TestContext): Promise<EtcdServer> {
	const etcd = await openEtcd();
	context.onTestFinished(() => etcd.close());
	return etcd;
}

/** Two agents with one worker each, in round 1. */
async function formPair(
	context: TestContext,
	etcd: EtcdNode,
	conf: ClusterOptions["conf"] = {},
	flags: readonly string[] = [],
	endpoint = etcd.endpoint,
) {
	const worker = ["beats.js"] as const;
	const options = { nodes: "2", conf, flags, worker };
	const cluster = new Cluster(etcd, options, context);
	const { site, store } = cluster;
	for (const nodeId of NODES) cluster.agent(nodeId, { endpoint });
	const members = await cluster.form(...NODES);
	const lives = await sawLives(site, 2, { round: 1 });
	const allSaw = (text: string) =>
		Promise.all(
			NODES.map((nodeId) => cluster.launchOf(nodeId).saw("stderr", text)),
		);
	const succeed = async (rounds = "") => {
		releaseWorkers(site);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain(`succeeded: ${rounds}`);
		}
	};
	return { cluster, site, store, members, lives, allSaw, succeed };
}

const lastLine = (text = "") => text.trimEnd().split("\n").at(-1);

describe("an etcd that is away for less than a lease's time to live", {
	concurrent: true,
}, () => {
	it.for(
		WAYS,
	)("J6 J16 because it is %s is missed by no worker, and by the log", async ([
		,
		takeAway,
		bringBack,
	], context) => {
		const etcd = await ownEtcd(context);
		const run = await formPair(context, etcd, { lease_ttl: LONG_TTL });
		await takeAway(etcd);
		await run.allSaw(
			`${LOST}the store cannot be used: etcd at ${etcd.endpoint}`,
		);
		await sawBeat(run.site, run.lives);
		await bringBack(etcd);
		await run.allSaw(BACK);
		await sawBeat(run.site, run.lives);
		await run.succeed("1 round");
		expect(livesAt(run.site)).toHaveLength(2);
	});

	it("J6 J10 hears once of a worker that failed, and then of workers that succeeded meanwhile", async (context) => {
		const etcd = await ownEtcd(context);
		const run = await formPair(context, etcd, { lease_ttl: LONG_TTL });
		const [first, second] = run.lives;
		if (first === undefined || second === undefined) expect.unreachable();
		etcd.suspend();
		failWorker(run.site, 1, first.rank);
		await run.cluster.launchOf(first.nodeId).saw("stderr", "ready for round 2");
		// Nobody can have told the other one.
		await sawBeat(run.site, [second]);
		etcd.resume();
		await run.cluster.world(2, ...run.members);
		const round = await run.store.round();
		expect(round).toMatchObject({ incidents: 1, charged: 1, deprecated: 1 });
		etcd.suspend();
		releaseWorkers(run.site);
		await run.allSaw("RUNNING→FINISHED all workers of this node succeeded");
		etcd.resume();
		await run.succeed("2 rounds");
		expect(livesAt(run.site)).toHaveLength(4);
	});
});

/** As where no round rides an outage out. */
const STAYS = ["--ride-out", "off"];

describe("an etcd that is away for longer than a lease's time to live", {
	concurrent: true,
}, () => {
	it.for(
		WAYS,
	)("T8 J6 J14 because it is %s is waited for without workers, and costs nothing", async ([
		,
		takeAway,
		bringBack,
	], context) => {
		const etcd = await ownEtcd(context);
		const conf = { lease_ttl: SHORT_TTL };
		const run = await formPair(context, etcd, conf, STAYS);
		await takeAway(etcd);
		await run.allSaw(FENCED);
		await sawEnd(run.lives);
		await run.allSaw(LOST);
		expect(livesAt(run.site)).toHaveLength(2);
		await bringBack(etcd);
		await run.cluster.world(2, ...run.members);
		await run.allSaw(BACK);
		const round = await run.store.round();
		expect(round).toMatchObject({ incidents: 0, charged: 0 });
		await run.succeed("2 rounds");
	});

	it("T8 costs nothing though a worker fails of the others' end", async (context) => {
		const etcd = await ownEtcd(context);
		const flags = ["--max-restarts", "0", ...STAYS];
		const conf = { lease_ttl: SHORT_TTL };
		const run = await formPair(context, etcd, conf, flags);
		const [first] = run.lives;
		if (first === undefined) expect.unreachable();
		etcd.suspend();
		failWorker(run.site, 1, first.rank);
		await run.cluster.launchOf(first.nodeId).saw("stderr", "ready for round 2");
		const other = NODES.find((nodeId) => nodeId !== first.nodeId) ?? "";
		await run.cluster.launchOf(other).saw("stderr", FENCED);
		etcd.resume();
		await run.cluster.world(2, ...run.members);
		expect(await run.store.round()).toMatchObject({
			...{ incidents: 0, charged: 0 },
			cause: { reason: `${other} was cut off from the store`, root: null },
		});
		await run.succeed("2 rounds");
	});

	it("and than the join time-out ends the agents with 4, with address and reason", async (context) => {
		const etcd = await ownEtcd(context);
		const conf = { ...IMPATIENT, join_timeout: 30, lease_ttl: SHORT_TTL };
		const { cluster, site } = await formPair(context, etcd, conf, STAYS);
		await etcd.kill();
		const ends = await cluster.ends({ "node-a": 4, "node-b": 4 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain(FENCED);
			const last = lastLine(stderr);
			expect(last).toContain(`etcd at ${etcd.endpoint}: `);
			expect(last).toContain("connection refused");
			expect(last).toMatch(
				/[Ii]t was lost for longer than join_timeout \(30s\)/,
			);
		}
		await site.isSwept();
	});
});

/** So long that a busy machine asks all nodes in time. */
const RIDDEN_TTL = 10;

describe("an etcd that is ridden out", { concurrent: true }, () => {
	it.for(
		WAYS,
	)("J16 because it is %s for longer than a lease's time to live touches no worker, and a failure afterwards is told once", async ([
		,
		takeAway,
		bringBack,
	], context) => {
		const etcd = await ownEtcd(context);
		const conf = { lease_ttl: RIDDEN_TTL };
		const run = await formPair(context, etcd, conf);
		const takenAt = performance.now();
		await takeAway(etcd);
		await run.allSaw("the store is away: all 2 nodes of round 1 confirm it");
		const at = ["--rdzv-endpoint", etcd.endpoint];
		const { runId } = run.store;
		const riding =
			/links of node-a on this machine: hears 1 node; riding out since \d.*, 2 of 2 heard/;
		await poll("status to say so", 60_000, async () => {
			const asked = await run.site.launch(["status", runId, ...at]).ended;
			expect(asked.exitCode).toBe(4);
			return riding.exec(asked.stderr) ?? undefined;
		});
		do {
			await sawBeat(run.site, run.lives);
		} while (performance.now() - takenAt < 1_500 * RIDDEN_TTL);
		await bringBack(etcd);
		await run.allSaw(": the round goes on");
		expect(livesAt(run.site)).toHaveLength(2);
		expect(await run.store.round()).toMatchObject({ synced: 1, deprecated: 0 });
		failWorker(run.site, 1, 0);
		await run.cluster.world(2, ...run.members);
		expect(await run.store.round()).toMatchObject({ incidents: 1, charged: 1 });
		await run.succeed("2 rounds");
	});

	it("J16 keeps the others' workers though one fails, which is told when it is back", async (context) => {
		const etcd = await ownEtcd(context);
		const run = await formPair(context, etcd, { lease_ttl: RIDDEN_TTL });
		const [first, second] = run.lives;
		if (first === undefined || second === undefined) expect.unreachable();
		etcd.suspend();
		await run.allSaw("the store is away: all 2 nodes of round 1 confirm it");
		failWorker(run.site, 1, first.rank);
		await run.cluster.launchOf(first.nodeId).saw("stderr", "ready for round 2");
		await sawBeat(run.site, [second]);
		etcd.resume();
		await run.cluster.world(2, ...run.members);
		expect(await run.store.round()).toMatchObject({ incidents: 1, charged: 1 });
		await run.succeed("2 rounds");
	});

	it("J16 ends the workers once a node is not heard", async (context) => {
		const etcd = await ownEtcd(context);
		const conf = { lease_ttl: SHORT_TTL };
		const run = await formPair(context, etcd, conf);
		const [first = "", other = ""] = run.members;
		etcd.suspend();
		await run.cluster.kill(other);
		await run.cluster.launchOf(first).saw("stderr", FENCED);
		await sawEnd(run.lives);
		etcd.resume();
		await run.cluster.stop();
	});
});

it("J17 an etcd that comes back from an older copy ends the run on all nodes, with its reason and without workers", async (context) => {
	const etcd = await ownEtcd(context);
	const run = await formPair(context, etcd);
	const copy = `${etcd.dataDirectory}-copy`;
	etcd.suspend();
	cpSync(etcd.dataDirectory, copy, { recursive: true });
	etcd.resume();
	failWorker(run.site, 1, 0);
	await run.cluster.world(2, ...run.members);
	await etcd.kill();
	rmSync(etcd.dataDirectory, { recursive: true });
	renameSync(copy, etcd.dataDirectory);
	await etcd.restart();
	const ends = await run.cluster.ends({ "node-a": 3, "node-b": 3 });
	for (const { stderr } of Object.values(ends)) {
		expect(stderr).toContain(
			"the store has forgotten a part of the run: it shows round 1 after round 2",
		);
	}
	expect(run.site.livingProcesses()).toEqual([]);
});

it("J16 a node that works alone rides it out too", async (context) => {
	const etcd = await ownEtcd(context);
	const conf = { lease_ttl: SHORT_TTL };
	const options = { nodes: "1", conf, worker: ["beats.js"] } as const;
	const cluster = new Cluster(etcd, options, context);
	const launch = cluster.agent("node-a");
	await cluster.form("node-a");
	await etcd.kill();
	const killedAt = performance.now();
	await launch.saw("stderr", "round 1 has no other node");
	const lives = livesAt(cluster.site);
	do {
		await sawBeat(cluster.site, lives);
	} while (performance.now() - killedAt < 1_500 * SHORT_TTL);
	await etcd.restart();
	await launch.saw("stderr", ": the round goes on");
	releaseWorkers(cluster.site);
	const { "node-a": end } = await cluster.ends({ "node-a": 0 });
	expect(end?.stderr).toContain("succeeded: 1 round");
});

describe("an etcd that is away at the start", { concurrent: true }, () => {
	it("although it takes connections: 4, with address and reason", async (context) => {
		const etcd = await ownEtcd(context);
		etcd.suspend();
		const conf = { ...IMPATIENT, join_timeout: 3 };
		const options = { nodes: "2", conf };
		const cluster = new Cluster(etcd, options, context);
		cluster.agent("node-a");
		const ends = await cluster.ends({ "node-a": 4 });
		const last = lastLine(ends["node-a"]?.stderr);
		expect(last).toContain(`etcd at ${etcd.endpoint}: no answer`);
		expect(last).toMatch(/[Tt]ried for \d+ s/);
		expect(cluster.site.workers()).toEqual([]);
	});

	it("and comes before the join time-out is waited for", async (context) => {
		const etcd = await ownEtcd(context);
		await etcd.kill();
		const options = { nodes: "1:2", conf: { last_call_timeout: 0.1 } };
		const cluster = new Cluster(etcd, options, context);
		const launch = cluster.agent("node-a");
		await launch.saw("stderr", "only agents of this machine can reach etcd");
		await etcd.restart();
		await cluster.world(1, "node-a");
		await cluster.stop();
	});
});

/** Two agents that know all three members; a follower is asked what the run's keys say. */
async function formAtThree(context: TestContext, leaseTtl: number) {
	const etcd = await startEtcdCluster(3);
	const leader = await etcd.leader();
	const [follower, other] = etcd.members.filter((member) => member !== leader);
	if (follower === undefined || other === undefined) expect.unreachable();
	const conf = { lease_ttl: leaseTtl };
	const endpoint = etcd.endpoints.join();
	const run = await formPair(context, follower, conf, STAYS, endpoint);
	return { ...run, etcd, leader, other };
}

describe("three members of an etcd", () => {
	it("J6 J16 whose leader is frozen cost no worker anything, and a failure meanwhile is told once", async (context) => {
		const { etcd, leader, ...run } = await formAtThree(context, LONG_TTL);
		leader.suspend();
		await etcd.leader();
		await sawBeat(run.site, run.lives);
		failWorker(run.site, 1, 0);
		await run.cluster.world(2, ...run.members);
		const round = await run.store.round();
		const once = { incidents: 1, charged: 1, deprecated: 1 };
		expect(round).toMatchObject(once);
		leader.resume();
		await run.succeed("2 rounds");
	});

	it("T8 J14 of which two are away are as good as none: they are waited for without workers", async (context) => {
		const { leader, other, ...run } = await formAtThree(context, SHORT_TTL);
		await Promise.all([leader.kill(), other.kill()]);
		await run.allSaw(FENCED);
		await sawEnd(run.lives);
		expect(livesAt(run.site)).toHaveLength(2);
		await Promise.all([leader.restart(), other.restart()]);
		await run.cluster.world(2, ...run.members);
		const round = await run.store.round();
		expect(round).toMatchObject({ incidents: 0, charged: 0 });
		await run.succeed("2 rounds");
	});
});
