import { expect, it } from "vitest";
import type { LeaveReport } from "../../src/operate/leave-run.js";
import { CLI } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";
import { HAS_TERMINALS, onTerminal } from "../helpers/terminal.js";

const etcd = etcdForAll();

it("T5: leave makes one node go, with nothing named but the node, and the run goes on with the others", async () => {
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

it("leave says who did not go in time, by the signal that the launcher minds", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--signals-to-handle", "SIGINT,SIGQUIT", "--shutdown-timeout", "1h"],
		...["--run-id", "slow", job("ignores-sigterm.js")],
	]);
	await site.sawWorkers(1);
	await launch.saw("stderr", "round 1: started");
	const { exitCode, stdout } = await site.launch([
		// Longer than the second in which the same signal counts once.
		...["leave", "slow", "--timeout", "1500ms"],
	]).ended;
	expect(exitCode).toBe(1);
	expect(stdout).toBe(
		`node-a of run slow (pid ${launch.pid}) did not go in time\n`,
	);
	expect(launch.output.stderr).toContain("SIGINT: stopping the workers");
	// The same signal so soon would be taken for the first one.
	launch.signal("SIGQUIT");
	expect((await launch.ended).exitCode).toBe(130);
});

it("leave signals no program that has launched by itself", async () => {
	const site = openSite();
	const program = site.start(
		process.execPath,
		[job("calls-launch-agent.js"), "isStopped"],
		{ stdin: true },
	);
	await site.sawWorkers(2);
	const told = await waitFor("its node to be known", () =>
		site.channelDirectories().some((name) => name.endsWith(".node-a")),
	);
	expect(told).toBe(true);
	const { exitCode, stderr } = await site.launch([
		...["leave", "--node-id", "node-a"],
	]).ended;
	expect(exitCode).toBe(2);
	expect(stderr).toContain(`the program with pid ${program.pid}, which minds`);
	program.endInput();
	const result = await program.ended;
	expect(JSON.parse(result.stdout)).toMatchObject({ outcome: "left" });
});

it("leave without a name stops nothing, and names what it would stop", async () => {
	const { site, launch } = await aLoneNode();
	const { exitCode, stderr } = await site.launch(["leave"], NAMELESS).ended;
	expect(exitCode).toBe(2);
	expect(stderr).toBe(
		`elastic-run: nothing was stopped; to make other-node of run theirs (pid ${launch.pid}) leave, name it: elastic-run leave theirs --node-id other-node\n`,
	);
	expect(launch.hasEnded).toBe(false);
	expect(launch.output.stderr).not.toContain("stopping the workers");
});

it.runIf(HAS_TERMINALS).each([
	["n", 2],
	["y", 0],
])("leave without a name asks on a terminal: %s", async (answer, expected) => {
	const { site, launch } = await aLoneNode();
	const terminal = onTerminal(site, `${process.execPath} ${CLI} leave`, {
		ELASTIC_RUN_NODE_ID: "",
	});
	await terminal.saw("stdout", "[y/N]");
	expect(terminal.output.stdout).toContain(
		`make other-node of run theirs (pid ${launch.pid}) leave?`,
	);
	terminal.type(`${answer}\n`);
	expect((await terminal.ended).exitCode).toBe(expected);
	if (answer === "y") expect((await launch.ended).exitCode).toBe(143);
	else expect(launch.hasEnded).toBe(false);
});

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
