// One real case of each source of failure; what else may come together is the simulator's.
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { fillForGood, mountSmall } from "../helpers/machine.js";
import { beginOf, endOf, tell } from "../helpers/obedient-worker.js";
import { endProcess, signalProcess } from "../helpers/processes.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const NO_RESTART = { charged: 0, incidents: 0 };

const etcd = etcdForAll();

describe("J6 of workers", { concurrent: true }, () => {
	it("an exit code, a signal, and two of two nodes at once: one round and one restart each", async (context) => {
		const flags = ["--max-restarts", "10"];
		const cluster = new Cluster(etcd(), { nodes: "2", flags }, context);
		cluster.agent("node-a", { nproc: 2 });
		cluster.agent("node-b", { nproc: 2 });
		const [first, second] = await cluster.form("node-a", "node-b");

		tell(cluster.worker(1, 2), 7);
		await cluster.world(2, first, second);
		signalProcess(cluster.worker(2, 0).pid, "SIGSEGV");
		for (const { pid } of await cluster.world(3, first, second)) {
			endProcess(pid);
		}
		const [worker] = await cluster.world(4, first, second);
		expect(worker?.env.TORCHELASTIC_RESTART_COUNT).toBe("3");
		const lines = await cluster.store.history();
		expect(lines.map(({ ending }) => ending).slice(0, 3)).toEqual([
			`rank 2 on ${second}: exit code 7`,
			`rank 0 on ${first}: killed by SIGSEGV`,
			expect.stringMatching(/^rank [0-3] on node-[ab]: killed by SIGKILL$/),
		]);
		expect(await cluster.store.round()).toMatchObject({
			...{ charged: 3, incidents: 3 },
		});
		await cluster.stop();
	});

	it("T16 T9 those that die because another has died are part of its incident", async (context) => {
		const options = { nodes: "2", worker: ["adds-up.js"] } as const;
		const cluster = new Cluster(etcd(), options, context);
		cluster.agent("node-a", { nproc: 2 });
		cluster.agent("node-b", { nproc: 2 });
		const [first, second] = await cluster.form("node-a", "node-b");
		for (const round of [1, 2]) {
			signalProcess(cluster.worker(round, 3).pid, "SIGKILL");
			await cluster.world(round + 1, first, second);
			expect(await cluster.store.round()).toMatchObject({
				...{ charged: round, incidents: round },
			});
		}
		await cluster.stop();
	});

	it("T6 T8 one that fails of a node's end, before that node's lease is over, costs nothing", async (context) => {
		const flags = ["--max-restarts", "0", "--links", "off"];
		const cluster = new Cluster(etcd(), { nodes: "2:3", flags }, context);
		const members = await cluster.form(...NODES);
		const coordinator = await cluster.store.coordinator();
		const [goes = "", bereaved = ""] = members.filter(
			(nodeId) => nodeId !== coordinator,
		);
		await cluster.kill(goes);
		tell(cluster.worker(1, members.indexOf(bereaved)), 9);
		const left = await cluster.store.sawRound(
			"round 1 to be left",
			({ deprecated }) => deprecated === 1,
		);
		expect(left).toMatchObject({
			...{ charged: 0, incidents: 1 },
			unpaid: { failure: { exitCode: 9 } },
		});
		await cluster.store.endLease(goes);
		await cluster.world(2, ...members.filter((nodeId) => nodeId !== goes));
		const round = await cluster.store.round();
		expect(round).toMatchObject({
			...NO_RESTART,
			cause: { reason: `${goes} left: lease expired`, root: null },
		});
		expect(round?.unpaid).toBeUndefined();
		await cluster.stop();
	});
});

describe("J6 of agents", { concurrent: true }, () => {
	it("J3 one killed while others wait at the barrier does not hold them, and nobody starts before the last one is ready", async (context) => {
		const flags = ["--shutdown-timeout", "1h"];
		const worker = ["obeys.js", "stubborn"] as const;
		const options = { nodes: "2:3", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second, third] = await cluster.form(...NODES);
		tell(cluster.worker(1, 0), 1);
		await cluster.store.sawNode(second, "stopping");
		await cluster.store.sawNode(third, "stopping");
		await cluster.store.sawNode(first, "ready", 2);
		await cluster.vanish(third);
		const lingers = cluster.worker(1, 1);
		tell(lingers, 0);
		const started = await cluster.world(2, first, second);
		const begins = started.map(beginOf);
		expect(Math.min(...begins)).toBeGreaterThan(endOf(lingers));
		// It was there when the failure was known, as far as the coordinator has seen that.
		const { incidents, charged } = (await cluster.store.round()) ?? {};
		expect(charged).toBe(incidents);
		cluster.succeed(2);
		await cluster.ends({ [first]: 0, [second]: 0 });
	});

	it("one that dies at whatever moment of its start, again and again, holds nobody up and costs nothing", async (context) => {
		const flags = ["--links", "off"];
		const cluster = new Cluster(etcd(), { nodes: "3", flags }, context);
		for (const nodeId of ["node-a", "node-b"]) {
			cluster.agent(nodeId);
			await cluster.store.sawNode(nodeId, "ready");
		}
		// Dead, it is given a seat: its lease lives.
		await cluster.kill("node-b");
		cluster.agent("node-c");
		await cluster.store.sawMembers(1);
		for (const words of ["only agents of this machine", "logs in", "claims"]) {
			await cluster.agent("node-b").saw("stderr", words);
			await cluster.kill("node-b");
		}
		cluster.agent("node-b");
		await cluster.newestWorld(...NODES);
		expect(await cluster.store.round()).toMatchObject(NO_RESTART);
		await cluster.stop();
	});
});

it("J6 a node without room for its workers' channels leaves with 75, and the others go on", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" }, context);
	const small = join(cluster.site.path, "small");
	mountSmall(context, small, "1m");
	cluster.agent("node-b", { env: { ELASTIC_RUN_DIR: small } });
	const members = await cluster.form("node-a", "node-b");

	await fillForGood(small, 1);
	tell(cluster.worker(1, members.indexOf("node-a")), 1);
	const { "node-b": left } = await cluster.ends({ "node-b": 75 });
	expect(left?.stderr).toMatch(
		/rank \d cannot be started: .*ENOSPC.*Make room.*\(tried again for 20 s\)/,
	);
	expect(left?.stderr).toContain("round 2: started 0 of 2 workers");
	await cluster.world(3, "node-a");
	expect(await cluster.store.round()).toMatchObject({
		...{ incidents: 1, charged: 1 },
		cause: { reason: expect.stringContaining("node-b left: rank") },
	});
	cluster.succeed(3);
	await cluster.ends({ "node-a": 0 });
});
