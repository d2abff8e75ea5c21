import { describe, expect, it } from "vitest";
import { Cluster, type ClusterOptions } from "../helpers/cluster.js";
import type { EtcdNode } from "../helpers/etcd.js";
import {
	type DivisibleCluster,
	startDivisibleCluster,
} from "../helpers/etcd-divided.js";
import { poll } from "../helpers/etcd-gateway.js";
import { expectFencedAndBack } from "../helpers/expect-fenced.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawLives,
} from "../helpers/lives.js";
import { waitFor } from "../helpers/processes.js";
import { startProxy } from "../helpers/tcp-proxy.js";
import { together } from "../helpers/together.js";

const BOUND_MS = 60_000;
/** Longer than any election takes. */
const LONG_TTL = 40;
/**
 * So long that the others have a leader again: an election takes seconds where the votes are split,
 * and a busy machine has some of its own.
 */
const ELECTION_TTL = 12;

/** The member that is to be cut off, as the leader or not, and the two that go on together. */
async function startThree(isLeader: boolean) {
	const etcd = await startDivisibleCluster();
	const leader = await etcd.leader();
	const followers = etcd.members.filter((member) => member !== leader);
	const [lone, ...majority] = isLeader
		? [leader, ...followers]
		: [...followers, leader];
	const [asked] = majority;
	if (lone === undefined || asked === undefined) {
		throw new Error("there are fewer than three members");
	}
	return { etcd, lone, majority, asked };
}

/** Forms round 1 of agents whose ways to the store are these. The first one coordinates. */
async function formOver(
	ways: Readonly<Record<string, readonly string[]>>,
	asked: EtcdNode,
	options: ClusterOptions,
) {
	const cluster = new Cluster(asked, { worker: ["beats.js"], ...options });
	for (const [nodeId, endpoints] of Object.entries(ways)) {
		cluster.agent(nodeId, { endpoint: endpoints.join() });
		await poll("a coordinator", BOUND_MS, () => cluster.store.coordinator());
	}
	const members = await cluster.form(...Object.keys(ways));
	const lives = await sawLives(cluster.site, members.length, { round: 1 });
	return { cluster, members, lives };
}

const endpointsOf = (members: DivisibleCluster["members"]) =>
	members.map(({ endpoint }) => endpoint);

/** An agent that is at the lone member, and knows the others. */
async function goOnElsewhere(isLeader: boolean): Promise<void> {
	const { etcd, lone, majority, asked } = await startThree(isLeader);
	const elsewhere = await Promise.all(
		endpointsOf(majority).map((endpoint) => startProxy(endpoint)),
	);
	// Nobody listens there yet, so that it is certainly at the lone one.
	for (const proxy of elsewhere) proxy.cut();
	const { cluster, members, lives } = await formOver(
		{
			"node-a": [lone.endpoint, ...elsewhere.map(({ endpoint }) => endpoint)],
			"node-b": endpointsOf(majority),
		},
		asked,
		{ nodes: "2", conf: { lease_ttl: LONG_TTL } },
	);
	const { site, store } = cluster;
	await Promise.all(elsewhere.map((proxy) => proxy.resume()));
	expect(elsewhere.map(({ accepted }) => accepted)).toEqual([0, 0]);
	await etcd.cutOff(lone);
	await waitFor("another member to be asked", () =>
		elsewhere.some(({ connections }) => connections > 0),
	);
	await sawBeat(site, lives);
	expect(livesAt(site)).toHaveLength(2);
	failWorker(site, 1, members.indexOf("node-a"));
	await cluster.world(2, ...members);
	expect(await store.round()).toMatchObject({ incidents: 1, charged: 1 });
	etcd.reunite();
	releaseWorkers(site);
	await cluster.ends({ "node-a": 0, "node-b": 0 });
}

/** An agent that knows the lone member only. */
async function fence(isLeader: boolean): Promise<void> {
	const { etcd, lone, majority, asked } = await startThree(isLeader);
	const others = endpointsOf(majority);
	const { cluster, members } = await formOver(
		{ "node-a": [lone.endpoint], "node-b": others, "node-c": others },
		asked,
		{
			nodes: "2:3",
			conf: { lease_ttl: ELECTION_TTL },
		},
	);
	await etcd.cutOff(lone);
	await expectFencedAndBack({
		cluster,
		lost: "node-a",
		others: members.filter((nodeId) => nodeId !== "node-a"),
		heal: () => etcd.reunite(),
	});
}

describe("a member of an etcd that is cut off from the others, but not from its clients", () => {
	it("J6 J16 is left by an agent that knows another one, and no worker notices", () =>
		together({
			"the leader": () => goOnElsewhere(true),
			"another one": () => goOnElsewhere(false),
		}));

	it("T5 T8 J14 leaves an agent that knows no other one without workers before the others run without it, until it is back", () =>
		together({
			"the leader": () => fence(true),
			"another one": () => fence(false),
		}));
});
