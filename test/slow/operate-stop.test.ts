import { describe, expect, it } from "vitest";
import type { StopReport } from "../../src/operate/stop-run.js";
import { CLI } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

const etcd = etcdForAll();

async function stop(cluster: Cluster, ...args: readonly string[]) {
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const words = ["stop", cluster.store.runId, ...at, ...args];
	return cluster.site.launch(words).ended;
}

describe("stop of a run in etcd", { concurrent: true }, () => {
	it("says who did not go in time", async (context) => {
		const flags = ["--shutdown-timeout", "1h"];
		const worker = ["obeys.sh", "stubborn"] as const;
		const options = { nodes: "2", flags, worker };
		const cluster = new Cluster(etcd(), options, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		const unwaited = await stop(cluster, "--no-wait");
		expect(unwaited.exitCode).toBe(0);
		expect(unwaited.stdout).toContain("2 nodes about to go");
		tell(cluster.worker(1, 0), 0);
		await cluster.ends({ [first]: 5 });
		const { exitCode, stdout, stderr } = await stop(cluster, "--timeout", "1");
		expect(exitCode).toBe(1);
		expect(stderr).toContain(`waiting for ${second} to go, at most 1.0 s`);
		expect(stdout).toContain("1 node did not go in time\n");
		const { pid } = cluster.launchOf(second);
		expect(stdout).toContain(`  ${second}: stopping, launcher ${pid} on `);
		tell(cluster.worker(1, 1), 0);
		await cluster.ends({ [second]: 5 });
	});
});

it("stop of a run without a store: its launcher exits with 5", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--nproc-per-node", "2", "--restart-policy", "soft"],
		...["--run-id", "alone", job("works.sh")],
	]);
	await site.sawWorkers(2);
	await launch.saw("stderr", "round 1: started 2 of 2 workers");
	const { exitCode, stdout, stderr } = await site.launch([
		...["stop", "alone", "--output", "json"],
	]).ended;
	expect(exitCode, stderr).toBe(0);
	expect(await launch.ended).toMatchObject({ exitCode: 5 });
	expect(launch.output.stderr).toContain("run alone stopped: elastic-run stop");
	const report: StopReport = JSON.parse(stdout);
	expect(report).toMatchObject({
		...{ runId: "alone", hadEnded: false, left: [] },
		outcome: { result: "stopped", exitCode: 5 },
	});
	await site.isSwept();
});

it.runIf(HAS_TERMINALS)(
	"leave without a name stops nothing, and asks on a terminal",
	async () => {
		const { site, launch } = await aLoneNode();
		const { exitCode, stderr } = await site.launch(["leave"], NAMELESS).ended;
		expect(exitCode).toBe(2);
		expect(stderr).toBe(
			`elastic-run: nothing was stopped; to make other-node of run theirs (pid ${launch.pid}) leave, name it: elastic-run leave theirs --node-id other-node\n`,
		);
		const terminal = onTerminal(site, `${process.execPath} ${CLI} leave`, {
			ELASTIC_RUN_NODE_ID: "",
		});
		await terminal.saw("stdout", "[y/N]");
		expect(terminal.output.stdout).toContain(
			`make other-node of run theirs (pid ${launch.pid}) leave?`,
		);
		terminal.type("y\n");
		expect((await terminal.ended).exitCode).toBe(0);
		expect((await launch.ended).exitCode).toBe(143);
	},
);

const NAMELESS = { env: { ELASTIC_RUN_NODE_ID: "" } };

/** A launcher that the user of `leave` may not know. */
async function aLoneNode() {
	const site = openSite();
	const launch = site.launch([
		...["--run-id", "theirs", "--node-id", "other-node", job("works.sh")],
	]);
	await site.sawWorkers(1);
	await launch.saw("stderr", "round 1: started");
	return { site, launch };
}
