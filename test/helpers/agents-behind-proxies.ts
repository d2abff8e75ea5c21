import { Cluster, type ClusterOptions } from "./cluster.js";
import { type EtcdServer, startEtcd } from "./etcd.js";
import { type Life, sawLives } from "./lives.js";
import { startProxy, type TcpProxy } from "./tcp-proxy.js";

export interface ProxiedRun {
	readonly cluster: Cluster;
	readonly etcd: EtcdServer;
	/** The members of round 1 by rank. */
	readonly members: readonly string[];
	/** Their workers in round 1. */
	readonly lives: readonly Life[];
	/** The way of one node to the store. */
	proxyOf(nodeId: string): TcpProxy;
}

/** Forms round 1 of agents of which each reaches an etcd of their own through a proxy of its own; their workers beat. */
export async function formBehindProxies(
	nodeIds: readonly string[],
	options: ClusterOptions,
): Promise<ProxiedRun> {
	const etcd = await startEtcd();
	const worker = ["beats.js"] as const;
	const cluster = new Cluster(etcd, { worker, ...options });
	const proxies = new Map<string, TcpProxy>();
	for (const nodeId of nodeIds) {
		const proxy = await startProxy(etcd.endpoint);
		proxies.set(nodeId, proxy);
		cluster.agent(nodeId, { endpoint: proxy.endpoint });
	}
	const members = await cluster.form(...nodeIds);
	const lives = await sawLives(cluster.site, nodeIds.length, { round: 1 });
	const proxyOf = (nodeId: string): TcpProxy => {
		const proxy = proxies.get(nodeId);
		if (proxy === undefined) throw new Error(`${nodeId} has no proxy`);
		return proxy;
	};
	return { cluster, etcd, members, lives, proxyOf };
}
