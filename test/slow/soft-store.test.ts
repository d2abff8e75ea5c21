import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { startEtcd } from "../helpers/etcd.js";
import {
	eventsOf,
	expectInOrder,
	expectSpared,
	sawEvent,
} from "../helpers/followers.js";
import { startProxy } from "../helpers/tcp-proxy.js";
import { together } from "../helpers/together.js";

const SOFT = {
	worker: ["follows.js"],
	flags: ["--restart-policy", "soft"],
} as const;
/** No agent stands still for so long only because the machine is slow. */
const LEASE = { lease_ttl: 4 };
const FENCED = /^this node's lease was not confirmed for/;

async function muteEtcd() {
	const etcd = await startEtcd();
	const flags = [...SOFT.flags, "--ride-out", "off"];
	const options = { nodes: "2", conf: LEASE, ...SOFT, flags };
	const cluster = new Cluster(etcd, options);
	const members = await cluster.form("node-a", "node-b");
	const workers = cluster.site.workers(1);
	etcd.suspend();
	const pauses = await sawEvent(workers, "PAUSE", 1);
	for (const { reason } of pauses) expect(reason).toMatch(FENCED);
	for (const nodeId of members) {
		await cluster.launchOf(nodeId).saw("stderr", "the store is lost");
	}
	etcd.resume();
	await sawEvent(workers, "WORK", 2);
	expectSpared(workers);
	workers.forEach(expectInOrder);
	expect(cluster.site.workers()).toHaveLength(2);
	expect(await cluster.store.sawMembers(2)).toEqual(members);
	expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
	await cluster.stop();
}

async function cutOffAgent() {
	const etcd = await startEtcd();
	const proxy = await startProxy(etcd.endpoint);
	const cluster = new Cluster(etcd, { nodes: "1:2", conf: LEASE, ...SOFT });
	cluster.agent("node-b", { endpoint: proxy.endpoint });
	await cluster.form("node-a", "node-b");
	const workers = cluster.site.workers(1);
	const isCutOff = ({ env }: (typeof workers)[number]) =>
		env.ELASTIC_RUN_NODE_ID === "node-b";
	const [cutOff] = workers.filter(isCutOff);
	const [other] = workers.filter((worker) => !isCutOff(worker));
	if (!cutOff || !other) throw new Error("no worker");
	proxy.cut();
	await sawEvent([other], "WORK", 2);
	// It held still before the other one went on.
	const [pause] = await sawEvent([cutOff], "PAUSE", 1);
	const [, , work] = eventsOf(other);
	expect(pause?.timestamp).toBeLessThan(work?.timestamp ?? 0);
	await proxy.resume();
	await sawEvent(workers, "WORK", 3);
	expectSpared(workers);
	workers.forEach(expectInOrder);
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 3, incidents: 0, charged: 0 },
	});
	await cluster.stop();
}

it("T5 T8 a store that is lost: PAUSE by the fence, WORK in a new round, the same processes", () =>
	together({
		"for all agents": muteEtcd,
		"for one of them, while the others go on": cutOffAgent,
	}));
