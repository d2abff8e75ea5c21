import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { eventsOf, expectSpared, sawEvent } from "../helpers/followers.js";
import { job, type LaunchEnd, openSite } from "../helpers/launch.js";
import { ec2 } from "../helpers/metadata-aws.js";
import { ordersBy } from "../helpers/orders.js";

const etcd = etcdForAll();

const { ordered } = ordersBy(etcd);

const saysWhy = (end: LaunchEnd | undefined) =>
	expect(end?.stderr).toContain("notice from command: elastic-run leave by ");

it("P9 hard: rank 0's node, which coordinates, leaves by its deadline, and the other goes on at no cost", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	expect(await ordered(cluster, "leave", first, "--deadline", "4s")).toContain(
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

const WAITS = job("works.sh");

it("P11 --deadline: a run that takes too long has failed", async () => {
	const site = openSite();
	const launch = site.launch(["--deadline", "2s", "--output", "json", WAITS]);
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(1);
	expect(stderr).toContain("deadline of 2s");
	expect(JSON.parse(stdout.trim().split("\n").at(-1) ?? "")).toMatchObject({
		outcome: "failed",
	});
});

it("P1 AWS: a spot interruption is heard by the launcher", async () => {
	const site = openSite();
	const server = await ec2();
	server.values.set(
		"spot/instance-action",
		JSON.stringify({
			action: "terminate",
			time: new Date(Date.now() + 5_000).toISOString(),
		}),
	);
	const launch = site.launch([WAITS], {
		env: { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url },
	});
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("spot interruption: terminate");
});

it("P1 P9 file:PATH: a notice makes the checkpoint helper save exactly once, the node leaves, and the next launch goes on from there", async () => {
	const site = openSite();
	const gone = join(site.path, "gone");
	const launch = (...worker: readonly string[]) =>
		site.launch(
			["--notices", "file:gone", job("saves-at-notice.js"), ...worker],
			{ env: { TRAIN_STATE: join(site.path, "state") } },
		);
	const first = launch();
	await site.sawWorkers(1);
	// Nothing but the save makes the node leave before this deadline.
	writeFileSync(gone, "3600\nthe disk is old\n");
	const { exitCode, stdout, stderr } = await first.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("/gone is there: the disk is old");
	const [one, saved, ...more] = numbers(stdout, "saved");
	expect({ loaded: numbers(stdout, "loaded"), one, more }).toEqual({
		...{ loaded: [0], one: 1, more: [] },
	});
	// It saw the notice for many more steps.
	expect(numbers(stdout, "ended at")[0]).toBeGreaterThanOrEqual(
		(saved ?? expect.unreachable()) + 20,
	);

	rmSync(gone);
	const second = await launch("10").ended;
	expect(second.exitCode).toBe(0);
	expect(numbers(second.stdout, "loaded")).toEqual([saved]);
	expect(numbers(second.stdout, "ended at")).toEqual([(saved ?? 0) + 10]);
});

function numbers(text: string, word: string): readonly number[] {
	return [...text.matchAll(new RegExp(`${word} (\\d+)$`, "gm"))].map(
		([, number]) => Number(number),
	);
}
