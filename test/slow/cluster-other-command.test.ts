import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();
const PATIENT =
	"join_timeout=120,last_call_timeout=60,settle_timeout=50,lease_ttl=60";
/** Runs until the site's release is there. */
const WAITS = `import { existsSync } from "node:fs";
setInterval(() => { if (existsSync(process.env.JOB_RELEASE)) process.exit(0); }, 50);`;

/** A user's project: a train.mjs in its own folder. */
function project(site: LaunchSite, name: string, script: string): string {
	const cwd = join(site.path, name);
	mkdirSync(cwd);
	writeFileSync(join(cwd, "train.mjs"), script);
	return cwd;
}

let projects = 0;

/** Starts `train.mjs` of a project without naming the run. */
function start(
	site: LaunchSite,
	cwd: string,
	nodeId: string,
	env: Readonly<Record<string, string>> = {},
	args: readonly string[] = [`--project=${projects}`],
) {
	return site.launch(
		[
			...["--nnodes", "1:2", "--rdzv-endpoint", etcd().endpoint],
			...["--rdzv-conf", PATIENT, "train.mjs", ...args],
		],
		{ cwd, env: { ELASTIC_RUN_NODE_ID: nodeId, ...env } },
	);
}

describe("two programs under one derived run id", () => {
	it("do not become one run where their scripts differ: the second is refused with 3 and both digests", async () => {
		projects += 1;
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

	it("are told apart by the job step under one Slurm job, and within a step by their arguments", async () => {
		const site = openSite();
		const cwd = project(site, "mine", WAITS);
		const job = { SLURM_JOB_ID: `47${process.pid}`, SLURM_STEP_ID: "0" };
		const first = start(site, cwd, "node-a", job, ["--lr", "1"]);
		await first.saw("stderr", "logs in");
		const second = await start(site, cwd, "node-b", job, ["--lr", "2"]).ended;
		expect(second.exitCode).toBe(3);
		expect(second.stderr).toContain(
			"the command: train.mjs --lr 1 there, train.mjs --lr 2 here",
		);
		const step = { ...job, SLURM_STEP_ID: "1" };
		const other = start(site, cwd, "node-b", step, ["--lr", "2"]);
		await other.saw("stderr", "logs in");
		for (const launch of [first, other]) {
			launch.signal("SIGTERM");
			expect((await launch.ended).exitCode).toBe(143);
		}
	});

	it("follow one another where the script was edited and nobody lives: a new start begins", async () => {
		projects += 1;
		const site = openSite();
		const cwd = project(site, "mine", WAITS);
		const first = start(site, cwd, "node-a");
		await first.saw("stderr", "logs in");
		first.signal("SIGTERM");
		await first.ended;
		writeFileSync(join(cwd, "train.mjs"), `${WAITS}\n// edited`);
		const second = start(site, cwd, "node-a");
		await second.saw("stderr", "logs in");
		second.signal("SIGTERM");
		expect((await second.ended).exitCode).toBe(143);
		expect(logsIn(second)).not.toBe(logsIn(first));
	});
});

/** The folder of its logs, which names the start of the run. */
function logsIn({ output }: { readonly output: { readonly stderr: string } }) {
	return /logs in (\S+)/.exec(output.stderr)?.[1];
}

it("different commands of one role under a run id that was given are a warning with both, and a spare of another command does not succeed", async () => {
	const cluster = new Cluster(etcd(), { nodes: "1" });
	await cluster.form("node-a");
	const spare = cluster.agent("node-b", { worker: ["obeys.sh", "other"] });
	await spare.saw("stderr", "obeys.sh other here");
	await waitFor("the spare", () => spare.output.stderr.includes("spare"));
	cluster.succeed(1);
	await cluster.ends({ "node-a": 0, "node-b": 3 });
	expect(spare.output.stderr).toContain("with another command");
});
