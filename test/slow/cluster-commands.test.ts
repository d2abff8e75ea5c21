import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

it("the same command twice at once, with one log directory: two nodes with logs of their own, and two spares where it is given four times", async () => {
	const cluster = new Cluster(etcd(), { nodes: "2" });
	const logs = cluster.site.logs;
	const env = { ELASTIC_RUN_NODE_ID: "", ELASTIC_RUN_LOG_DIR: logs };
	const launches = ["a", "b", "c", "d"].map((name) =>
		cluster.agent(name, { env, nproc: 2 }),
	);
	const workers = await cluster.site.sawWorkers(4, 1);
	const nodeIds = new Set(workers.map(({ env }) => env.ELASTIC_RUN_NODE_ID));
	expect(nodeIds.size).toBe(2);
	for (const { pid, env } of workers) {
		const folder = join(env.TORCHELASTIC_ERROR_FILE ?? "", "..");
		const { ELASTIC_RUN_INSTANCE, ELASTIC_RUN_NODE_ID, LOCAL_RANK } = env;
		const start = join(logs, cluster.store.runId, ELASTIC_RUN_INSTANCE ?? "");
		expect(folder).toBe(
			join(start, ELASTIC_RUN_NODE_ID ?? "", "round-1", LOCAL_RANK ?? ""),
		);
		expect(existsSync(join(folder, "stdout.log")), String(pid)).toBe(true);
	}
	cluster.succeed(1);
	for (const { ended } of launches) expect((await ended).exitCode).toBe(0);
	expect(cluster.site.workers()).toHaveLength(4);
});

/** How many requests have come to etcd over streams of watches: each is the making or the end of one. */
async function watchRequests(): Promise<number> {
	const answer = await fetch(`http://${etcd().endpoint}/metrics`);
	const line =
		/^grpc_server_msg_received_total\{grpc_method="Watch",.*\} (\d+)$/m;
	return Number(line.exec(await answer.text())?.[1]);
}

it("J16 restarts of a run's workers make no new watches in the store", async () => {
	const flags = ["--max-restarts", "10"];
	const cluster = new Cluster(etcd(), { nodes: "2", flags });
	const [first, second] = await cluster.form("node-a", "node-b");
	// An agent that answers has opened all its watches.
	const { site, store } = cluster;
	const endpoint = ["--rdzv-endpoint", etcd().endpoint];
	const why = await site.launch(["why", store.runId, ...endpoint]).ended;
	expect(why.exitCode, why.stderr).toBe(0);
	const before = await watchRequests();
	expect(before).toBeGreaterThan(0);
	for (const round of [1, 2]) {
		tell(cluster.worker(round, round % 2), 1);
		await cluster.world(round + 1, first, second);
	}
	expect(await watchRequests()).toBe(before);
	await cluster.stop();
});

describe("two programs under one derived run id", () => {
	/** Runs until the site's release is there. */
	const WAITS = `import { existsSync } from "node:fs";
setInterval(() => { if (existsSync(process.env.JOB_RELEASE)) process.exit(0); }, 50);`;
	const PATIENT =
		"join_timeout=120,last_call_timeout=60,settle_timeout=50,lease_ttl=60";
	const unique = `--project=${process.pid}`;

	/** A user's project: a train.mjs in its own folder. */
	function project(site: LaunchSite, name: string, script: string): string {
		const cwd = join(site.path, name);
		mkdirSync(cwd);
		writeFileSync(join(cwd, "train.mjs"), script);
		return cwd;
	}

	/** Starts `train.mjs` of a project without naming the run. */
	function start(
		site: LaunchSite,
		cwd: string,
		nodeId: string,
		env: Readonly<Record<string, string>> = {},
		args: readonly string[] = [unique],
	) {
		const meeting = ["--nnodes", "1:2", "--rdzv-endpoint", etcd().endpoint];
		return site.launch(
			[...meeting, "--rdzv-conf", PATIENT, "train.mjs", ...args],
			{ cwd, env: { ELASTIC_RUN_NODE_ID: nodeId, ...env } },
		);
	}

	it("do not become one run where their scripts differ: the second is refused with 3 and both digests", async () => {
		const site = openSite();
		const mine = project(site, "mine", WAITS);
		const other = project(site, "other", `${WAITS}\n// another program`);
		const first = start(site, mine, "node-a");
		await first.saw("stderr", "logs in");
		const second = await start(site, other, "node-b").ended;
		expect(second.exitCode).toBe(3);
		expect(second.stderr).toMatch(
			/the script's content \(sha256\): [0-9a-f]{12} there, [0-9a-f]{12} here/,
		);
		expect(second.stderr).not.toContain("succeeded");
		first.signal("SIGTERM");
		expect((await first.ended).exitCode).toBe(143);
	});
});

it("different commands of one role under a run id that was given are a warning with both, and a spare of another command does not succeed", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1" });
	await cluster.form("node-a");
	const spare = cluster.agent("node-b", { worker: ["obeys.sh", "other"] });
	await spare.saw("stderr", "obeys.sh other here");
	await spare.saw("stderr", "spare");
	cluster.succeed(1);
	await cluster.ends({ "node-a": 0, "node-b": 3 });
	expect(spare.output.stderr).toContain("with another command");
});
