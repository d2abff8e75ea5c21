import { describe, expect, it, type TestContext } from "vitest";
import { formBehindProxies } from "../helpers/agents-behind-proxies.js";
import {
	Cluster,
	type ClusterAgentOptions,
	type Job,
} from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { expectFencedAndBack } from "../helpers/expect-fenced.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
} from "../helpers/lives.js";
import { tell } from "../helpers/obedient-worker.js";
import { waitFor } from "../helpers/processes.js";
import { openProxy, type TcpProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();

const BOTH = { "node-a": {}, "node-b": {} };
/** The node that is to be cut off, as the coordinator and as another one. */
const LOST = "node-a";
const COORDINATES = { [LOST]: {}, "node-b": {}, "node-c": {} };
const OBEYS = { "node-b": {}, "node-c": {}, [LOST]: {} };
/** Its worker ends by SIGKILL only, for which less time is left before the lease ends. */
const STUBBORN: Job = ["beats.js", "ignores-sigterm"];

/** Cuts one node off for so long that the others go on without it, and lets it come back. */
async function cutOff(
	context: TestContext,
	agents: Readonly<Record<string, ClusterAgentOptions>>,
	breakOff: (proxy: TcpProxy) => void,
): Promise<void> {
	const run = await formBehindProxies(context, etcd(), agents, {
		nodes: "2:3",
		// So long that no agent of a busy machine misses its keepalives.
		conf: { lease_ttl: 5 },
	});
	const proxy = run.proxyOf(LOST);
	breakOff(proxy);
	await expectFencedAndBack({
		cluster: run.cluster,
		lost: LOST,
		others: run.members.filter((nodeId) => nodeId !== LOST),
		heal: () => proxy.resume(),
	});
}

describe("T5 T8 J14 a node that is cut off from the store has no worker any more before the others run without it, and comes back as the last one", {
	concurrent: true,
}, () => {
	it("where nothing comes through", (context) =>
		cutOff(context, OBEYS, (proxy) => proxy.stall()));

	it("where its connections are reset and refused, and it coordinates", (context) =>
		cutOff(context, COORDINATES, (proxy) => proxy.cut()));

	it("where it is not heard, and coordinates", (context) =>
		cutOff(context, COORDINATES, (proxy) => proxy.oneWay("to-client")));

	it("where it hears nothing", (context) =>
		cutOff(context, OBEYS, (proxy) => proxy.oneWay("to-server")));

	it("where nothing comes through, it coordinates, and its worker does not mind SIGTERM", (context) => {
		const agents = { ...COORDINATES, [LOST]: { worker: STUBBORN } };
		return cutOff(context, agents, (proxy) => proxy.stall());
	});
});

it("a node that comes back when another one has finished is told why it runs nothing more", async (context) => {
	const conf = { lease_ttl: 5 };
	const options = { nodes: "2:3", conf, worker: ["obeys.sh"] } as const;
	const cluster = new Cluster(etcd(), options, context);
	const proxy = await openProxy(etcd().endpoint);
	context.onTestFinished(() => proxy.close());
	cluster.agent(LOST, { endpoint: proxy.endpoint });
	await cluster.form("node-b", "node-c", LOST);
	proxy.stall();
	await cluster.newestWorld("node-b", "node-c");
	const [finishes, works] = await cluster.site.sawWorkers(2, 2);
	if (!finishes || !works) throw new Error("no worker");
	tell(finishes, 0);
	const { ELASTIC_RUN_NODE_ID: done = "" } = finishes.env;
	await cluster.launchOf(done).saw("stderr", "RUNNING→FINISHED");
	await proxy.resume();
	const cutOff = cluster.launchOf(LOST);
	await cutOff.saw("stderr", "this node was cut off from etcd in round 1");
	tell(works, 0);
	await cluster.ends({ "node-b": 0, "node-c": 0, [LOST]: 0 });
});

/** The shortest lease that etcd grants at its own pace of elections, in seconds. */
const SHORTEST_TTL = 2;
/** For how long a machine may keep a process waiting that is to end its workers in the last fifth of such a lease. */
const LONGEST_PAUSE_MS = 300;

it("J14 the same holds of a lease as short as etcd grants it", async (context) => {
	const run = await formBehindProxies(context, etcd(), BOTH, {
		nodes: "1:2",
		conf: { lease_ttl: SHORTEST_TTL },
	});
	const { cluster } = run;
	run.proxyOf(LOST).stall();
	await cluster.newestWorld("node-b");
	const of = (nodeId: string) => livesAt(cluster.site, { nodeId });
	await sawEnd(of(LOST));
	const pauses = livesAt(cluster.site).map(({ longestPause }) => longestPause);
	if (Math.max(...pauses) > LONGEST_PAUSE_MS) {
		context.skip("this machine is too busy for leases of two seconds");
	}
	for (const ended of of(LOST)) {
		const later = of("node-b").filter(({ round }) => round > ended.round);
		expect(later).not.toEqual([]);
		for (const { born } of later) expect(ended.lastBeat).toBeLessThan(born);
	}
});

/** Disturbs the way of one of two nodes; what happens to the other one is heard all the same. */
async function disturb(
	context: TestContext,
	how: (proxy: TcpProxy) => void,
): Promise<void> {
	const run = await formBehindProxies(context, etcd(), BOTH, {
		nodes: "2",
		// Within a third of it a mute connection is given up.
		conf: { lease_ttl: 15 },
	});
	const { cluster, members, lives } = run;
	const proxy = run.proxyOf("node-b");
	const { accepted } = proxy;
	how(proxy);
	await waitFor("another connection", () => proxy.accepted > accepted);
	await proxy.resume();
	await sawBeat(cluster.site, lives);
	expect(livesAt(cluster.site)).toHaveLength(2);
	failWorker(cluster.site, 1, members.indexOf("node-a"));
	await cluster.world(2, ...members);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ incidents: 1, charged: 1 });
	releaseWorkers(cluster.site);
	await cluster.ends({ "node-a": 0, "node-b": 0 });
	expect(proxy.accepted - accepted).toBeLessThan(4);
}

describe("J6 J16 a way to the store that breaks for less than a lease's time to live is missed by no worker, and no news gets lost", {
	concurrent: true,
}, () => {
	it("where connections are reset", (context) =>
		disturb(context, (proxy) => proxy.reset()));

	it("where old connections are mute", (context) =>
		disturb(context, (proxy) => proxy.stallOld()));

	it("where all connections are mute", (context) =>
		disturb(context, (proxy) => proxy.stall()));
});
