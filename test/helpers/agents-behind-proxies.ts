import type { TestContext } from "vitest";
import {
	Cluster,
	type ClusterAgentOptions,
	type ClusterOptions,
} from "./cluster.js";
import type { EtcdNode } from "./etcd.js";
import { poll } from "./etcd-gateway.js";
import { type Life, sawLives } from "./lives.js";
import { openProxy, type TcpProxy } from "./tcp-proxy.js";

const BOUND_MS = 60_000;

interface ProxiedRun {
	readonly cluster: Cluster;
	/** The members of round 1 by rank. */
	readonly members: readonly string[];
	/** Their workers in round 1. */
	readonly lives: readonly Life[];
	/** The way of one node to the store. */
	proxyOf(nodeId: string): TcpProxy;
}

/**
 * Forms round 1 of agents of which each reaches etcd through a proxy of its own. The first agent
 * coordinates. Each has one worker, which beats unless its options name another.
 */
export async function formBehindProxies(
	context: TestContext,
	etcd: EtcdNode,
	agents: Readonly<Record<string, ClusterAgentOptions>>,
	options: ClusterOptions,
): Promise<ProxiedRun> {
	const worker = ["beats.js"] as const;
	const cluster = new Cluster(etcd, { worker, ...options }, context);
	const proxies = new Map<string, TcpProxy>();
	for (const [nodeId, own] of Object.entries(agents)) {
		const proxy = await openProxy(etcd.endpoint);
		context.onTestFinished(() => proxy.close());
		proxies.set(nodeId, proxy);
		cluster.agent(nodeId, { ...own, endpoint: proxy.endpoint });
		await poll("a coordinator", BOUND_MS, () => cluster.store.coordinator());
	}
	const members = await cluster.form(...proxies.keys());
	const lives = await sawLives(cluster.site, members.length, { round: 1 });
	const proxyOf = (nodeId: string): TcpProxy => {
		const proxy = proxies.get(nodeId);
		if (proxy === undefined) throw new Error(`${nodeId} has no proxy`);
		return proxy;
	};
	return { cluster, members, lives, proxyOf };
}
