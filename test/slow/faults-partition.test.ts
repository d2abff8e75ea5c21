import { describe, expect, it, type TestContext } from "vitest";
import { formBehindProxies } from "../helpers/agents-behind-proxies.js";
import type { ClusterAgentOptions, Job } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { expectFencedAndBack } from "../helpers/expect-fenced.js";
import type { TcpProxy } from "../helpers/tcp-proxy.js";

const etcd = etcdForAll();

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

it("J16 nodes that ride while the run is stopped and started again work alone until they hear of it", async (context) => {
	const conf = { lease_ttl: 10, join_timeout: 120 };
	const run = await formBehindProxies(context, etcd(), OBEYS, {
		...{ nodes: "3", conf },
	});
	const { cluster, members } = run;
	const { runId } = cluster.store;
	for (const nodeId of members) run.proxyOf(nodeId).stall();
	for (const nodeId of members) {
		await cluster.launchOf(nodeId).saw("stderr", "nodes of round 1 confirm it");
		await cluster.store.sawNoNode(nodeId);
	}
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const stopped = await cluster.site.launch(["stop", runId, ...at]).ended;
	expect(stopped.stderr).toContain("may work on together without the store");
	const next = ["node-x", "node-y", "node-z"];
	for (const nodeId of next) cluster.agent(nodeId, {});
	for (const nodeId of next) {
		await cluster.launchOf(nodeId).saw("stderr", "give --ride-out off");
	}
	expect(cluster.site.workers(2)).toEqual([]);
	for (const nodeId of members) await run.proxyOf(nodeId).resume();
	await cluster.ends({ "node-a": 5, "node-b": 5, "node-c": 5 });
	await cluster.newestWorld(...next);
	await cluster.stop();
});

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
