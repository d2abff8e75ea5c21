import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { eventsOf, expectSpared, sawEvent } from "../helpers/followers.js";
import type { LaunchEnd } from "../helpers/launch.js";
import { polledNotices } from "../helpers/polled-notices.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();

function order(cluster: Cluster, ...args: readonly string[]) {
	const [command = "", ...others] = args;
	const { runId } = cluster.store;
	const named = ["--run-id", runId, "--rdzv-endpoint", etcd().endpoint];
	return cluster.site.launch([command, ...others, ...named], {
		env: { ELASTIC_RUN_NODE_ID: "" },
	}).ended;
}

async function ordered(cluster: Cluster, ...args: readonly string[]) {
	const { exitCode, stdout, stderr } = await order(cluster, ...args);
	expect(exitCode, stderr).toBe(0);
	return stdout;
}

async function status({ site, store }: Cluster): Promise<string> {
	const { endpoint } = etcd();
	const flags = ["--rdzv-endpoint", endpoint];
	return (await site.launch(["status", store.runId, ...flags]).ended).stdout;
}

const saysWhy = (end: LaunchEnd | undefined) =>
	expect(end?.stderr).toContain("notice from command: elastic-run leave by ");

it("P9 hard: rank 0's node, which coordinates, leaves by its deadline, and the other goes on at no cost", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const iso = new Date(Date.now() + 4_000).toISOString();
	expect(await ordered(cluster, "leave", first, "--deadline", iso)).toContain(
		`${first} of run ${cluster.store.runId} is told to leave by `,
	);
	await cluster.world(2, second);
	const { [first]: end } = await cluster.ends({ [first]: 143 });
	saysWhy(end);
	expect(await cluster.store.round()).toMatchObject({
		...{ synced: 2, charged: 0, incidents: 0 },
		cause: {
			kind: "scale-down",
			reason: expect.stringContaining(`${first} left: notice from command: `),
		},
	});
	cluster.succeed(2);
	await cluster.ends({ [second]: 0 });
});

it("P9 soft: a spare takes the seat of a node whose workers are ready to end, and nobody else restarts", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "2",
		flags: ["--restart-policy", "soft"],
		worker: ["follows.js"],
	});
	const [first, second] = await cluster.form("node-a", "node-b");
	const workers = cluster.site.workers(1);
	cluster.agent("node-c");
	await cluster.store.sawNode("node-c", "ready");
	const of = (nodeId: string) =>
		workers.filter(({ env }) => env.ELASTIC_RUN_NODE_ID === nodeId);
	await ordered(cluster, "leave", second, "--deadline", "1h");
	await sawEvent(of(first), "WORK", 2);
	await cluster.ends({ [second]: 143 });
	expect(await cluster.store.sawMembers(2)).toEqual([first, "node-c"]);
	expectSpared(of(first));
	expect(of(second).flatMap(eventsOf)).toContainEqual(
		expect.objectContaining({ kind: "PREEMPTION", source: "command" }),
	);
	// All nodes at once: the run ends in order.
	const both = [first, "node-c"];
	await Promise.all(
		both.map((nodeId) => ordered(cluster, "leave", nodeId, "--deadline", "20")),
	);
	await cluster.ends({ [first]: 143, "node-c": 143 });
	await cluster.site.isSwept();
});

it("P9 a notice is withdrawn", async () => {
	const cluster = new Cluster(etcd(), {
		nodes: "1:2",
		flags: ["--notice-signal", "SIGUSR1"],
		worker: ["polls-notices.js"],
	});
	const [, second] = await cluster.form("node-a", "node-b");
	const [stays, goes] = cluster.site.workers(1);
	if (!stays || !goes) throw new Error("no workers");
	await ordered(cluster, "leave", second, "--deadline", "1h");
	await waitFor("the notice", () => polledNotices(goes).length === 2);
	expect(polledNotices(goes)).toContainEqual({
		...{ source: "command", deadline: expect.any(Number) },
		reason: expect.stringMatching(/^elastic-run leave by /),
	});
	expect(polledNotices(goes)).toContain("SIGUSR1");
	const words = "running (notice from command: elastic-run leave by ";
	const line = (await status(cluster))
		.split("\n")
		.find((one) => one.startsWith(second));
	expect(line).toContain(words);
	expect(line).toContain(", gone at ");
	await ordered(cluster, "leave", second, "--cancel");
	await waitFor("its end", () => polledNotices(goes).at(-1) === null);
	expect(polledNotices(stays)).toEqual([]);

	const unknown = await order(cluster, "leave", "node-x", "--cancel");
	expect(unknown.exitCode).toBe(2);
	expect(unknown.stderr).toContain("has no node node-x; its nodes: node-a");
	await cluster.stop();
});
