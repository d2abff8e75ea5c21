import { expect, it } from "vitest";
import { Cluster, killed } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import {
	eventsOf,
	expectInOrder,
	expectSpared,
	followed,
	sawEvent,
} from "../helpers/followers.js";
import { tell } from "../helpers/obedient-worker.js";
import { isAlive, signalProcess, waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

const etcd = etcdForAll();
sideBySide();
const FOLLOWS = ["follows.js"] as const;

const onNode = (nodeId: string) => ({ ELASTIC_RUN_NODE_ID: nodeId });

it.concurrent("T4 T10 a worker fails: its node's others end and fresh ones follow while its budget lasts, then it leaves with 75", async () => {
	const flags = ["--restart-policy", "soft", "--max-restarts", "1"];
	const cluster = new Cluster(etcd(), { nodes: "1:2", flags, worker: FOLLOWS });
	for (const nodeId of ["node-a", "node-b"])
		cluster.agent(nodeId, { nproc: 2 });
	const [first, second] = await cluster.form("node-a", "node-b");
	const survivors = cluster.site.workers(1).slice(0, 2);

	const [, , , fails] = cluster.site.workers(1);
	signalProcess(fails?.pid, "SIGKILL");
	await sawEvent(survivors, "WORK", 2);
	const fresh = await cluster.site.sawWorkers(2, 2);
	expect(fresh.map(({ env }) => env.RANK)).toEqual(["2", "3"]);
	expect(fresh[0]?.env.TORCHELASTIC_RESTART_COUNT).toBe("1");

	if (fresh[0]) tell(fresh[0], 9);
	await sawEvent(survivors, "WORK", 3);
	const ends = await cluster.ends({ [second]: 75 });
	expect(ends[second]?.stderr).toMatch(
		/^root cause: rank 2 on .*, round 2: exit code 9$/m,
	);
	expectSpared(survivors);
	for (const worker of survivors) {
		expectInOrder(worker);
		tell(worker, 0);
	}
	await cluster.ends({ [first]: 0 });
});

it.concurrent("T11 under soft-replace only the worker that died is replaced, and pays by itself", async () => {
	const flags = ["--restart-policy", "soft-replace", "--max-restarts", "1"];
	const worker = [...FOLLOWS, "waits"] as const;
	const cluster = new Cluster(etcd(), { nodes: "2", flags, worker });
	for (const nodeId of ["node-a", "node-b"])
		cluster.agent(nodeId, { nproc: 2 });
	await cluster.form("node-a", "node-b");
	const survivors = cluster.site.workers(1).slice(0, 3);

	for (const round of [1, 2]) {
		const rank = round === 1 ? 3 : 2;
		const died = round === 1 ? cluster.worker(1, 3) : survivors.pop();
		signalProcess(died?.pid, "SIGKILL");
		const [fresh] = await cluster.site.sawWorkers(1, round + 1);
		expect(fresh?.env).toMatchObject({ RANK: String(rank) });
		await sawEvent(survivors, "WORK", round + 1);
	}
	expectSpared(survivors);
	survivors.forEach(expectInOrder);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 3, incidents: 2, charged: 0 });
	await cluster.stop();
});

it.concurrent("T14 workers that are deaf are started again, uncounted, and the warning is said once", async () => {
	const flags = ["--restart-policy", "soft"];
	const worker = ["obeys.sh"] as const;
	const cluster = new Cluster(etcd(), { nodes: "1:3", flags, worker });
	const [first, second, third] = await cluster.form(
		...["node-a", "node-b", "node-c"],
	);
	await cluster.vanish(third ?? "");
	await cluster.world(2, first ?? "", second ?? "");
	await cluster.vanish(second ?? "");
	await cluster.world(3, first ?? "");
	expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
	cluster.launchOf(first ?? "").signal("SIGTERM");
	const ends = await cluster.ends({ [first ?? ""]: 143 });
	const warnings = ends[first ?? ""]?.stderr.match(/cannot be paused/g);
	expect(warnings).toHaveLength(1);
});

it.concurrent("T14 a PAUSE that is not acknowledged: of a worker that never did, a fresh start in the same round; of one that did, a failure", async () => {
	const flags = ["--restart-policy", "soft", "--pause-timeout", "5s"];
	const cluster = new Cluster(etcd(), { nodes: "1:3", flags, worker: FOLLOWS });
	cluster.agent("node-a", { worker: ["follows.js", "hello"] });
	cluster.agent("node-b", { worker: ["follows.js", "once"] });
	await cluster.form("node-a", "node-b", "node-c");
	const silent = await cluster.site.sawWorker(1, onNode("node-a"));
	const once = await cluster.site.sawWorker(1, onNode("node-b"));
	await cluster.vanish("node-c");

	// Its PAUSE is never acknowledged: round 2 begins with another one.
	const fresh = await cluster.site.sawWorker(2, onNode("node-a"));
	expect(followed(silent)).toEqual([{ kind: "SIGTERM" }]);
	expect(isAlive(fresh.pid)).toBe(true);
	expect(await cluster.store.round()).toMatchObject({ incidents: 0 });
	await cluster.launchOf("node-a").saw("stderr", "nor any before");

	// The other one has acknowledged that, and then no more.
	await sawEvent([once], "PAUSE", 1);
	await cluster.store.sawNode("node-b", "running", 2);
	tell(fresh, 9);
	const again = await cluster.site.sawWorker(3, onNode("node-b"));
	expect(followed(once).at(-1)).toEqual({ kind: "SIGTERM" });
	expect(isAlive(again.pid)).toBe(true);
	const { failure } = (await cluster.store.node("node-b")) ?? {};
	expect(failure).toMatchObject({
		paused: true,
		failure: { description: "did not acknowledge PAUSE within 5 s" },
	});
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 3, incidents: 1 });
	expect(round?.cause.root?.nodeId).toBe("node-a");
	await cluster.stop();
});

/** Waits until the failures of these workers have been reported and all nodes run again; what the run has been charged by then. */
async function chargesAfter(cluster: Cluster, pids: readonly number[]) {
	const nodeIds = ["node-a", "node-b", "node-c"];
	return poll("all nodes to run again", 60_000, async () => {
		const round = await cluster.store.round();
		const nodes = await Promise.all(
			nodeIds.map((nodeId) => cluster.store.node(nodeId)),
		);
		const reported = nodes.map((node) => node?.failure?.failure.pid);
		const areBack = nodes.every(
			(node) => node?.state === "running" && node.claim === round?.synced,
		);
		return areBack && pids.every((pid) => reported.includes(pid))
			? { synced: round?.synced, incidents: round?.incidents }
			: undefined;
	});
}

it.concurrent("T16 survivors that are aborted because of a worker's death are part of its incident", async () => {
	const flags = ["--restart-policy", "soft"];
	const worker = ["adds-up.js", "hello", "aborts"] as const;
	const cluster = new Cluster(etcd(), { nodes: "3", flags, worker });
	await cluster.form("node-a", "node-b", "node-c");
	const pids = cluster.site.workers(1).map(({ pid }) => pid);
	signalProcess(pids[2], "SIGKILL");
	expect(await chargesAfter(cluster, pids)).toMatchObject({ incidents: 1 });
	await cluster.stop();
});

it.concurrent("T4 T14 a worker that exits with 0 at PAUSE has not succeeded, even where the next round has begun: it is restarted, uncounted", async () => {
	const flags = ["--restart-policy", "soft"];
	const cluster = new Cluster(etcd(), { nodes: "1:3", flags, worker: FOLLOWS });
	cluster.agent("node-a", { worker: ["follows.js", "leaves"] });
	await cluster.form("node-a", "node-b", "node-c");
	const [stays] = cluster.site
		.workers(1)
		.filter(({ env }) => env.ELASTIC_RUN_NODE_ID === "node-b");
	if (!stays) throw new Error("no worker of node-b");
	await cluster.vanish("node-c");

	const fresh = await waitFor("a fresh worker of node-a", () =>
		cluster.site
			.workers()
			.find(
				({ pid, env }) =>
					env.ELASTIC_RUN_NODE_ID === "node-a" &&
					env.ELASTIC_RUN_ROUND !== "1" &&
					isAlive(pid),
			),
	);
	await sawEvent([stays], "WORK", Number(fresh.env.ELASTIC_RUN_ROUND));
	expectSpared([stays]);
	expectInOrder(stays);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ incidents: 0, outcome: null });
	for (const worker of [fresh, stays]) tell(worker, 0);
	await cluster.ends({ "node-a": 0, "node-b": 0 });
});

it.concurrent("T4 T5 T7 T9 a node is killed, one joins, one stops: survivors keep their process, and learn of each change", async (context) => {
	const flags = ["--restart-policy", "soft"];
	const cluster = new Cluster(
		etcd(),
		{ nodes: "1:3", flags, worker: FOLLOWS },
		context,
	);
	for (const nodeId of ["node-a", "node-b", "node-c"])
		cluster.agent(nodeId, { nproc: 2 });
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const survivors = cluster.site.workers(1).slice(0, 2);

	await cluster.vanish(third);
	await sawEvent(survivors, "WORK", 2);
	cluster.agent("node-d", { nproc: 2 });
	const newcomers = await cluster.site.sawWorkers(2, 3);
	await sawEvent([...survivors, ...newcomers], "WORK", 3);
	cluster.launchOf(second).signal("SIGTERM");
	await cluster.ends({ [second]: 143 });
	await sawEvent(survivors, "WORK", 4);

	expectSpared([...survivors, ...newcomers]);
	for (const [localRank, worker] of survivors.entries()) {
		expectInOrder(worker);
		const events = eventsOf(worker);
		const place = (worldSize: number) => ({ rank: localRank, worldSize });
		expect(events).toMatchObject([
			{ kind: "WORK", round: 1, workerInfo: place(6) },
			{ changeEvent: "SCALE_DOWN", reason: killed(third) },
			{ kind: "WORK", round: 2, workerInfo: place(4) },
			{ changeEvent: "SCALE_UP", reason: "joining: node-d" },
			{ kind: "WORK", round: 3, workerInfo: place(6) },
			{ changeEvent: "SCALE_DOWN", reason: `${second} left: SIGTERM` },
			{ kind: "WORK", round: 4, workerInfo: place(4) },
		]);
		const works = events.filter(({ kind }) => kind === "WORK");
		const ports = works.map(({ workerInfo }) => workerInfo.masterPort);
		expect(new Set(ports).size).toBe(4);
	}
	expect(await cluster.store.round()).toMatchObject({
		incidents: 0,
		charged: 0,
	});
	for (const worker of [...survivors, ...newcomers]) tell(worker, 0);
	const ends = await cluster.ends({ [first]: 0, "node-d": 0 });
	expect(ends[first]?.stderr).toContain("succeeded: 4 rounds, 0 restarts");
});
