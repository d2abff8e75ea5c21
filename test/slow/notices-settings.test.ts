import { expect, test } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { ec2 } from "../helpers/metadata-aws.js";
import { ordersBy } from "../helpers/orders.js";
import { polledNotices } from "../helpers/polled-notices.js";
import { waitFor } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

/** A cloud that only recommends to go. */
async function adviser() {
	const server = await ec2();
	server.values.set(
		"events/recommendations/rebalance",
		'{"noticeTime":"2026-01-01T00:00:00Z"}',
	);
	return { AWS_EC2_METADATA_SERVICE_ENDPOINT: server.url };
}

test.concurrent("P2 --termination-grace: Kubernetes' SIGTERM is a notice, and times that do not fit are warned of", async () => {
	const site = openSite();
	const launch = site.launch(
		["--termination-grace", "2", job("polls-notices.js")],
		{ env: { ...(await adviser()), KUBERNETES_SERVICE_HOST: "10.0.0.1" } },
	);
	const [worker] = await site.sawWorkers(1);
	await launch.saw(
		"stderr",
		"advice (aws): rebalance recommendation: a raised risk of a spot interruption; to follow it, use --on-advice drain",
	);
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain(
		"--termination-grace (2s) is not longer than --shutdown-timeout (30s)",
	);
	expect(stderr).toContain("notice from kubernetes: SIGTERM: the pod ends");
	expect(polledNotices(worker ?? expect.unreachable())).toEqual([
		{
			...{ source: "kubernetes", reason: "SIGTERM: the pod ends" },
			deadline: expect.any(Number),
		},
	]);
});

test.concurrent("P2 on RunPod SIGTERM is a notice with its 5 s", async () => {
	const site = openSite();
	const launch = site.launch(
		["--shutdown-timeout", "90", job("polls-notices.js")],
		{ env: { RUNPOD_POD_ID: "x7" } },
	);
	const [worker] = await site.sawWorkers(1);
	launch.signal("SIGTERM");
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain("RunPod gives 5s from SIGTERM to SIGKILL");
	expect(polledNotices(worker ?? expect.unreachable())).toEqual([
		{ source: "command", reason: "SIGTERM", deadline: expect.any(Number) },
	]);
});

test.concurrent("P9 --drain-before: the node leaves so long before its Slurm job ends, and is warned that it is short", async () => {
	const site = openSite();
	// A launcher that starts late still finds the most of it ahead: it drains for half of what is left at most.
	const launch = site.launch(["--drain-before", "4", job("works.sh")], {
		env: {
			SLURM_JOB_ID: "4711",
			SLURM_JOB_END_TIME: String(Math.round(Date.now() / 1_000) + 16),
		},
	});
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stderr).toContain(
		"--drain-before (4s) is not longer than --shutdown-timeout (30s)",
	);
	expect(stderr).toContain("this node leaves 4 s before");
	expect(stderr).toContain(
		"notice from slurm: Slurm job 4711 is at its time limit",
	);
});

test.concurrent("P9 --max-lifetime: the node leaves in time, with 75", async () => {
	const site = openSite();
	const flags = ["--max-lifetime", "4"];
	const { exitCode, stderr } = await site.launch([...flags, job("works.sh")])
		.ended;
	expect(exitCode).toBe(75);
	expect(stderr).toContain("its lifetime of 4 s is nearly over");
});

const etcd = etcdForAll();

const { order, ordered } = ordersBy(etcd);

async function status({ site, store }: Cluster): Promise<string> {
	const { endpoint } = etcd();
	const flags = ["--rdzv-endpoint", endpoint];
	return (await site.launch(["status", store.runId, ...flags]).ended).stdout;
}

test.concurrent("P9 a notice is withdrawn", async () => {
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
