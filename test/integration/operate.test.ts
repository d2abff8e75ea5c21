import { expect, it } from "vitest";
import type { StatusDocument } from "../../src/http/status-document.js";
import type { LeaveReport } from "../../src/operate/leave-run.js";
import type { StopReport } from "../../src/operate/stop-run.js";
import type { RunDocument } from "../../src/status/run-document.js";
import { ask, askUntil, observedAt } from "../helpers/ask.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { parseMetrics } from "../helpers/parse-metrics.js";
import { signalProcess } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

const etcd = etcdForAll();

it.concurrent("T5: leave makes one node go, with nothing named but the node, and the run goes on with the others", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const { site } = cluster;
	const nameless = { env: { ELASTIC_RUN_NODE_ID: "" } };
	const several = await site.launch(["leave"], nameless).ended;
	expect(several.exitCode).toBe(2);
	expect(several.stderr).toMatch(
		/2 nodes are on this machine; name one: --run-id .* --node-id node-a .*, or .*node-b/,
	);
	const { exitCode, stdout } = await site.launch([
		...["leave", "--node-id", second, "--output", "json"],
	]).ended;
	expect(exitCode).toBe(0);
	const report: LeaveReport = JSON.parse(stdout);
	expect(report).toEqual({
		...{ version: 1, runId: cluster.store.runId, nodeId: second },
		...{ pid: cluster.launchOf(second).pid, signal: "SIGTERM", gone: true },
	});
	await cluster.ends({ [second]: 143 });
	await cluster.world(2, first);
	cluster.succeed(2);
	await cluster.ends({ [first]: 0 });
	const none = await site.launch(["leave"], nameless).ended;
	expect(none.exitCode).toBe(2);
	expect(none.stderr).toContain("there is no node of this user's on this");
});

async function stop(cluster: Cluster, ...args: readonly string[]) {
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const words = ["stop", cluster.store.runId, ...at, ...args];
	return cluster.site.launch(words).ended;
}

it.concurrent("stop ends a run on every node with exit code 5, spares too, and waits until all are gone", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	cluster.agent("node-c");
	await cluster.store.sawNode("node-c", "ready");
	const { exitCode, stdout } = await stop(cluster, "--output", "json");
	const ends = await cluster.ends({ [first]: 5, [second]: 5, "node-c": 5 });
	const report: StopReport = JSON.parse(stdout);
	expect(report).toMatchObject({
		...{ version: 1, runId: cluster.store.runId, place: etcd().endpoint },
		...{ hadEnded: false, left: [] },
		outcome: { result: "stopped", exitCode: 5, root: null },
	});
	expect(exitCode).toBe(0);
	const reason = report.outcome?.reason ?? "";
	expect(reason).toMatch(/^elastic-run stop by .+ on .+$/);
	expect(ends[second]?.stderr).toContain(
		`run ${cluster.store.runId} stopped: ${reason}`,
	);
	expect(await cluster.store.history()).toMatchObject([
		{ round: 1, outcome: "stopped", ending: reason },
	]);
	await cluster.site.isSwept();
	const again = await stop(cluster);
	expect(again.exitCode).toBe(0);
	expect(again.stdout).toContain("had ended before, stopped: elastic-run");
});

it.concurrent("J21: status without a store shows the nodes and processes of a run while it lives, and afterwards how it ended", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "2", "--run-id", "one", job("obeys.sh")],
	]);
	const workers = await site.sawWorkers(2);
	const printed = async (...args: readonly string[]) =>
		(await site.launch(["status", ...args]).ended).stdout;
	const status = await poll("a node that runs", 60_000, async () => {
		const seen = JSON.parse(
			(await printed("one", "--output", "json")) || "null",
		) as RunDocument | null;
		return seen?.nodes[0]?.state === "running" ? seen : undefined;
	});
	expect(status).toMatchObject({
		...{ version: 1, runId: "one", phase: "running", round: 1 },
		...{ waiting: null, coordinator: "node-a", incidents: 0 },
		restarts: { allowed: 3, used: 0, left: 3 },
		nodes: [
			{
				...{ nodeId: "node-a", part: "member", ranks: [0, 1] },
				pid: launch.pid,
				workerPids: workers.map(({ pid }) => pid),
			},
		],
	});
	const text = await printed("one");
	expect(text).toMatch(/^run one: running, round 1, since /);
	expect(text).toContain(`${launch.pid} on 127.0.0.1`);
	expect(await printed()).toMatch(/\none +running +1 +1 /);
	launch.signal("SIGTERM");
	await launch.ended;
	const memory = ["--rdzv-backend", "memory"];
	expect(await printed(...memory)).toMatch(/\none +stopped +1 +0 /);
	expect((await site.launch(["history", "one"]).ended).stdout).toMatch(
		/, stopped after .*: SIGTERM$/m,
	);
	const other = await site.launch(["status", "other", ...memory]).ended;
	expect(other).toMatchObject({ exitCode: 1, stdout: "" });
	expect(other.stderr).toContain("there is no run other on this machine");
});

it.concurrent("--http tells Prometheus, and by /status, of a worker that was killed", async () => {
	const site = openSite();
	const flags = ["--http", ":0", "--nproc-per-node", "2"];
	const launch = site.launch([...flags, job("obeys.sh")]);
	const url = await observedAt(launch);
	const [first] = await site.sawWorkers(2, 1);
	await askUntil(`${url}/readyz`, ({ status }) => status === 200);
	const before = parseMetrics((await ask(`${url}/metrics`)).body);
	expect(before.value("elastic_run_incidents_total")).toBe(0);
	if (first) signalProcess(first.pid, "SIGKILL");
	const workers = await site.sawWorkers(2, 2);
	const { body, headers } = await askUntil(`${url}/metrics`, (answer) => {
		const isReady = /^elastic_run_ready\{.*\} 1$/m.test(answer.body);
		return isReady && /rounds_total\{cause="failure"/.test(answer.body);
	});
	expect(headers["content-type"]).toMatch(/^text\/plain; version=0\.0\.4/);
	const after = parseMetrics(body);
	expect(after.value("elastic_run_incidents_total")).toBe(1);
	expect(after.value("elastic_run_restarts_left")).toBe(2);
	expect(after.value("elastic_run_round")).toBe(2);
	expect(after.value("elastic_run_world_size")).toBe(2);
	expect(after.value("elastic_run_workers", { state: "running" })).toBe(2);
	const count = "elastic_run_round_phase_seconds_count";
	expect(after.value(count, { phase: "stop" })).toBe(1);
	const answer = await ask(`${url}/status`);
	const status: StatusDocument = JSON.parse(answer.body);
	expect(status.run?.lastIncident?.reason).toContain("killed by SIGKILL");
	expect(status.timeline?.incidents).toMatchObject([{ kind: "failure" }]);
	for (const worker of workers) tell(worker, 0);
	expect((await launch.ended).exitCode).toBe(0);
});
