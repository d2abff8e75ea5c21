import { it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll, etcdGet } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";
import { openProxy } from "../helpers/tcp-proxy.js";
import { sideBySide } from "../helpers/this-test.js";

const LEASE_TTL = 15;
const NODES = ["node-a", "node-b"] as const;

const etcd = etcdForAll();
sideBySide();

it.concurrent("a store that is 1.3 s away there and back carries a run through a restart, under one lease a node", async (context) => {
	const proxy = await openProxy(etcd().endpoint);
	context.onTestFinished(() => proxy.close());
	proxy.delay(650);
	const conf = { lease_ttl: LEASE_TTL };
	const cluster = new Cluster(etcd(), { nodes: "2", conf }, context);
	const { endpoint } = proxy;
	for (const nodeId of NODES) cluster.agent(nodeId, { endpoint });
	const leases = () =>
		Promise.all(
			NODES.map(async (nodeId) => {
				const entry = await etcdGet(etcd(), cluster.store.keys.node(nodeId));
				return entry?.lease;
			}),
		);

	const members = await cluster.form(...NODES);
	const before = await leases();
	tell(cluster.worker(1, 0), 7);
	await cluster.world(2, ...members);
	context.expect(await leases()).toEqual(before);
	cluster.succeed(2);
	const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
	for (const nodeId of NODES) {
		context.expect(ends[nodeId]?.stderr).not.toContain("the store is lost");
	}
	context
		.expect(await cluster.store.round())
		.toMatchObject({ synced: 2, incidents: 1, charged: 1 });
});
