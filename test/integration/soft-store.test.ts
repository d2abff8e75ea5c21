import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { startEtcd } from "../helpers/etcd.js";
import {
	eventsOf,
	expectInOrder,
	expectSpared,
	followed,
	sawEvent,
} from "../helpers/followers.js";
import { startProxy } from "../helpers/tcp-proxy.js";

const SOFT = {
	worker: ["follows.js"],
	flags: ["--restart-policy", "soft"],
} as const;
const FENCED = /^no keepalive was acknowledged for 0\.8 of the lease's/;

it("T5 an etcd that is mute for longer than the lease: PAUSE by the fence, WORK in a new round, the same processes", async () => {
	const etcd = await startEtcd();
	const conf = { lease_ttl: 2 };
	const cluster = new Cluster(etcd, { nodes: "2", conf, ...SOFT });
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
});

it("T5 T8 an agent that is cut off: the others go on, its workers wait, and go on when it is back", async () => {
	const etcd = await startEtcd();
	const proxy = await startProxy(etcd.endpoint);
	const conf = { lease_ttl: 2 };
	const cluster = new Cluster(etcd, { nodes: "1:2", conf, ...SOFT });
	cluster.agent("node-b", { endpoint: proxy.endpoint });
	await cluster.form("node-a", "node-b");
	const workers = cluster.site.workers(1);
	const [cutOff] = workers.filter(
		({ env }) => env.ELASTIC_RUN_NODE_ID === "node-b",
	);
	const others = workers.filter((worker) => worker !== cutOff);
	if (cutOff === undefined) throw new Error("no worker");
	proxy.cut();
	await sawEvent(others, "WORK", 2);
	// It held still before the others went on.
	const [pause] = await sawEvent([cutOff], "PAUSE", 1);
	const [, , work] = eventsOf(others[0] ?? cutOff);
	expect(pause?.timestamp).toBeLessThan(work?.timestamp ?? 0);
	await proxy.resume();
	await sawEvent(workers, "WORK", 3);
	expectSpared(workers);
	workers.forEach(expectInOrder);
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 3, incidents: 0, charged: 0 },
	});
	await cluster.stop();
});

it("T6 an etcd that stays away: paused workers get SIGTERM before their agents exit with 4", async () => {
	const etcd = await startEtcd();
	const conf = {
		...{ lease_ttl: 2, join_timeout: 8 },
		...{ settle_timeout: 0.5, last_call_timeout: 0.5 },
	};
	const cluster = new Cluster(etcd, { nodes: "2", conf, ...SOFT });
	await cluster.form("node-a", "node-b");
	const workers = cluster.site.workers(1);
	etcd.suspend();
	await cluster.ends({ "node-a": 4, "node-b": 4 });
	for (const worker of workers) {
		const kinds = followed(worker).map(({ kind }) => kind);
		expect(kinds).toEqual(["WORK", "PAUSE", "SIGTERM"]);
	}
	await cluster.site.isSwept();
	etcd.resume();
});

it("T6 fewer than MIN: paused workers get SIGTERM before their agent exits with 3", async () => {
	const etcd = await startEtcd();
	const conf = {
		...{ join_timeout: 5, settle_timeout: 0.5, last_call_timeout: 0.5 },
	};
	const cluster = new Cluster(etcd, { nodes: "2", conf, ...SOFT });
	const [first, second] = await cluster.form("node-a", "node-b");
	const [worker] = cluster.site.workers(1);
	if (worker === undefined) throw new Error("no worker");
	await cluster.vanish(second);
	const ends = await cluster.ends({ [first]: 3 });
	expect(ends[first]?.stderr).toContain(`missing: ${second}`);
	const kinds = followed(worker).map(({ kind }) => kind);
	expect(kinds).toEqual(["WORK", "PAUSE", "SIGTERM"]);
	await cluster.site.isSwept();
});
