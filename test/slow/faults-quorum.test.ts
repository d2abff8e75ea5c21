import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import {
	type EtcdCluster,
	type EtcdNode,
	startEtcdCluster,
} from "../helpers/etcd.js";
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
const FENCED = "RUNNING→STOPPING this node's lease was not confirmed for";
/** Longer than any election takes. */
const LONG_TTL = 40;
/** So long that no agent of a busy machine misses its keepalives. */
const SHORT_TTL = 5;
const IMPATIENT = { join_timeout: 4, settle_timeout: 1, last_call_timeout: 1 };

/**
 * Two agents with one worker each, in round 1; what the run's keys say is asked of a member.
 */
async function formPair(etcd: EtcdCluster, asked: EtcdNode, leaseTtl: number) {
	const cluster = new Cluster(asked, {
		nodes: "2",
		conf: { lease_ttl: leaseTtl },
		worker: ["beats.js"],
	});
	const endpoint = etcd.endpoints.join();
	for (const nodeId of NODES) cluster.agent(nodeId, { endpoint });
	const members = await cluster.form(...NODES);
	const lives = await sawLives(cluster.site, 2, { round: 1 });
	const succeed = async (rounds: string) => {
		releaseWorkers(cluster.site);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		for (const { stderr } of Object.values(ends)) {
			expect(stderr).toContain(`succeeded: ${rounds}`);
		}
	};
	return { cluster, site: cluster.site, members, lives, succeed };
}

/** Starts three members; the first one follows when this resolves. */
async function startThree() {
	const etcd = await startEtcdCluster(3);
	const leader = await etcd.leader();
	const [follower, other] = etcd.members.filter((member) => member !== leader);
	if (follower === undefined || other === undefined) {
		throw new Error("there are fewer than three members");
	}
	return { etcd, leader, follower, other };
}

describe("three members of an etcd", () => {
	it("J6 J16 whose leader goes away cost no worker anything", () =>
		together({
			killed: async () => {
				const { etcd, leader, follower } = await startThree();
				const run = await formPair(etcd, follower, LONG_TTL);
				await leader.kill();
				await etcd.leader();
				await sawBeat(run.site, run.lives);
				await run.succeed("1 round");
				expect(livesAt(run.site)).toHaveLength(2);
			},
			"frozen, and a worker fails meanwhile, which is told once": async () => {
				const { etcd, leader, follower } = await startThree();
				const run = await formPair(etcd, follower, LONG_TTL);
				leader.suspend();
				failWorker(run.site, 1, 0);
				await run.cluster.world(2, ...run.members);
				const round = await run.cluster.store.round();
				const once = { incidents: 1, charged: 1, deprecated: 1 };
				expect(round).toMatchObject(once);
				leader.resume();
				await run.succeed("2 rounds");
			},
		}));

	it("T8 J14 of which two are away are as good as none", () =>
		together({
			"for long: are waited for without workers": async () => {
				const { etcd, leader, follower, other } = await startThree();
				const run = await formPair(etcd, follower, SHORT_TTL);
				await Promise.all([leader.kill(), other.kill()]);
				for (const nodeId of NODES) {
					await run.cluster.launchOf(nodeId).saw("stderr", FENCED);
				}
				await sawEnd(run.lives);
				expect(livesAt(run.site)).toHaveLength(2);
				await Promise.all([leader.restart(), other.restart()]);
				await run.cluster.world(2, ...run.members);
				const round = await run.cluster.store.round();
				expect(round).toMatchObject({ incidents: 0, charged: 0 });
				await run.succeed("2 rounds");
			},
			"at the start: 4, with each address and reason": async () => {
				const { etcd, leader, follower, other } = await startThree();
				await Promise.all([leader.kill(), other.kill()]);
				// The one that runs takes 7 s to say that it has no quorum.
				const conf = { ...IMPATIENT, join_timeout: 15 };
				const cluster = new Cluster(follower, { nodes: "2", conf });
				cluster.agent("node-a", { endpoint: etcd.endpoints.join() });
				const ends = await cluster.ends({ "node-a": 4 });
				const last = ends["node-a"]?.stderr.trimEnd().split("\n").at(-1);
				for (const { endpoint } of [leader, other]) {
					expect(last).toContain(`etcd at ${endpoint}: connection refused`);
				}
				expect(last).toMatch(
					new RegExp(
						`etcd at ${follower.endpoint}: .*(leader|no answer|timed out)`,
					),
				);
			},
		}));
});
