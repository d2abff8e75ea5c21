import { describe, expect, it } from "vitest";
import { Cluster, type ClusterOptions } from "../helpers/cluster.js";
import { type EtcdServer, startEtcd } from "../helpers/etcd.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";
import { together } from "../helpers/together.js";

const NODES = ["node-a", "node-b"] as const;
const LOST = "the store is lost, and is tried again: ";
const BACK = "the store is back after ";
const FENCED = "RUNNING→STOPPING no keepalive was acknowledged for 0.8 of";
/** Longer than anything here takes, and shorter. */
const LONG_TTL = 40;
const SHORT_TTL = 2;
const IMPATIENT = {
	join_timeout: 3,
	settle_timeout: 0.5,
	last_call_timeout: 0.5,
};

/** How an etcd goes away and comes back. */
const KILLED = {
	takeAway: (etcd: EtcdServer) => etcd.kill(),
	bringBack: (etcd: EtcdServer) => etcd.restart(),
};
const FROZEN = {
	takeAway: async (etcd: EtcdServer) => etcd.suspend(),
	bringBack: async (etcd: EtcdServer) => etcd.resume(),
};

/** Two agents with one worker each, in round 1. */
async function formPair(etcd: EtcdServer, conf: ClusterOptions["conf"] = {}) {
	const worker = ["beats.js"] as const;
	const cluster = new Cluster(etcd, { nodes: "2", conf, worker });
	const { site, store } = cluster;
	const members = await cluster.form(...NODES);
	const lives = await sawLives(site, 2, { round: 1 });
	const allSaw = (text: string) =>
		Promise.all(
			NODES.map((nodeId) => cluster.launchOf(nodeId).saw("stderr", text)),
		);
	const succeed = async (rounds: string) => {
		releaseWorkers(site);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain(`succeeded: ${rounds}`);
		}
	};
	return { cluster, site, store, members, lives, allSaw, succeed };
}

const lastLine = (text = "") => text.trimEnd().split("\n").at(-1);

describe("an etcd that is away for less than a lease's time to live", () => {
	it("J6 J16 is missed by no worker", () => {
		const play = async ({ takeAway, bringBack }: typeof KILLED) => {
			const etcd = await startEtcd();
			const run = await formPair(etcd, { lease_ttl: LONG_TTL });
			await takeAway(etcd);
			const where = `the store cannot be used: etcd at ${etcd.endpoint}`;
			await run.allSaw(`${LOST}${where}`);
			await sawBeat(run.site, run.lives);
			await bringBack(etcd);
			await run.allSaw(BACK);
			await sawBeat(run.site, run.lives);
			await run.succeed("1 round");
			expect(livesAt(run.site)).toHaveLength(2);
		};
		return together({
			killed: () => play(KILLED),
			frozen: () => play(FROZEN),
		});
	});

	it("J6 hears once of a worker that failed meanwhile", async () => {
		const etcd = await startEtcd();
		const run = await formPair(etcd, { lease_ttl: LONG_TTL });
		const [first, second] = await sawLives(run.site, 2, { round: 1 });
		if (first === undefined || second === undefined) expect.unreachable();
		etcd.suspend();
		failWorker(run.site, 1, first.rank);
		await run.cluster.launchOf(first.nodeId).saw("stderr", "claims round 2");
		// Nobody can have told the other one.
		await sawBeat(run.site, [second]);
		etcd.resume();
		await run.cluster.world(2, ...run.members);
		const round = await run.store.round();
		expect(round).toMatchObject({ incidents: 1, charged: 1, deprecated: 1 });
		await run.succeed("2 rounds");
	});
});

describe("an etcd that is away for longer than a lease's time to live", () => {
	it("T8 J6 J14 is waited for without workers, and costs nothing", () => {
		const play = async ({ takeAway, bringBack }: typeof KILLED) => {
			const etcd = await startEtcd();
			const run = await formPair(etcd, { lease_ttl: SHORT_TTL });
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
		};
		return together({
			killed: () => play(KILLED),
			frozen: () => play(FROZEN),
		});
	});
});

describe("an etcd that is away for longer than the join time-out", () => {
	it("ends the agents with 4, with address and reason, and without workers", () =>
		together({
			"in the middle": async () => {
				const etcd = await startEtcd();
				const conf = { ...IMPATIENT, lease_ttl: SHORT_TTL };
				const { cluster, site } = await formPair(etcd, conf);
				await etcd.kill();
				const ends = await cluster.ends({ "node-a": 4, "node-b": 4 });
				for (const { stderr } of Object.values(ends)) {
					expect(stderr).toContain(FENCED);
					expect(lastLine(stderr)).toContain(
						`etcd at ${etcd.endpoint}: connection refused`,
					);
				}
				await site.isSwept();
			},
			"from the start on, although it takes connections": async () => {
				const etcd = await startEtcd();
				etcd.suspend();
				const cluster = new Cluster(etcd, { nodes: "2", conf: IMPATIENT });
				cluster.agent("node-a");
				const ends = await cluster.ends({ "node-a": 4 });
				const last = lastLine(ends["node-a"]?.stderr);
				expect(last).toContain(`etcd at ${etcd.endpoint}: no answer`);
				expect(last).toMatch(/tried for [23] s/);
				expect(cluster.site.workers()).toEqual([]);
			},
		}));

	it("only seems to be so where it comes before that", async () => {
		const etcd = await startEtcd();
		await etcd.kill();
		const conf = { last_call_timeout: 0.1 };
		const cluster = new Cluster(etcd, { nodes: "1:2", conf });
		const launch = cluster.agent("node-a");
		await launch.saw("stderr", "only agents of this machine can reach etcd");
		await etcd.restart();
		await cluster.world(1, "node-a");
		await cluster.stop();
	});
});
