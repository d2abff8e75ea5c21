import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { expectInOrder, expectSpared, sawEvent } from "../helpers/followers.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { RunInStore } from "../helpers/run-in-store.js";
import { sideBySide } from "../helpers/this-test.js";

const etcd = etcdForAll();
sideBySide();

it.concurrent("T1 launchAgent with RestartPolicy.SOFT: two agents in a program, one is aborted, the other one's workers go on", async () => {
	const site = openSite();
	const env = { JOB_ENDPOINT: etcd().endpoint };
	const caller = job("calls-launch-agent.js");
	const program = site.start(process.execPath, [caller, "isSoft"], {
		env,
		stdin: true,
	});
	const workers = await site.sawWorkers(2, 1);
	const [survivor] = workers.filter(
		({ env: { ELASTIC_RUN_NODE_ID } }) => ELASTIC_RUN_NODE_ID === "node-a",
	);
	if (survivor === undefined) throw new Error("no worker");
	program.endInput();
	await sawEvent([survivor], "WORK", 2);
	expectSpared([survivor]);
	expectInOrder(survivor);
	// Who is still leaving when the run succeeds ends with its outcome.
	await new RunInStore(etcd(), "soft").sawNoNode("node-b");
	tell(survivor, 0);
	const { stdout, stderr, exitCode } = await program.ended;
	expect(exitCode, stderr).toBe(0);
	expect(JSON.parse(stdout)).toMatchObject([
		{ nodeId: "node-a", outcome: "succeeded", exitCode: 0 },
		{ nodeId: "node-b", outcome: "left", exitCode: 143 },
	]);
	await site.isSwept();
});

it.concurrent("T1 an unknown policy fails before anything starts", async () => {
	const site = openSite();
	const launch = site.launch(["--restart-policy", "sofd", job("follows.js")]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode).toBe(2);
	expect(stderr.trimEnd().split("\n")).toEqual([
		expect.stringContaining('--restart-policy: "sofd" is unknown'),
	]);
	expect(stderr).toContain("did you mean soft?");
	expect(site.workers()).toEqual([]);
});

it.concurrent("a loop of getWorkerInfo() and waitForWork() costs one restart, and then a warning that names the fix", async () => {
	const site = openSite();
	const policy = ["--restart-policy", "soft", "--max-restarts", "3"];
	const launch = site.launch([...policy, job("waits-in-a-loop.js")]);
	await launch.saw("stdout", "waits in round 2");
	await launch.saw("stderr", "afterRound");
	await launch.saw("stdout", "still in 2");
	launch.signal("SIGTERM");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(exitCode).toBe(143);
	expect(stdout).not.toContain("waits in round 3");
	expect(stderr.match(/afterRound/g)).toHaveLength(1);
	expect(stderr).toContain("\nrestarts: 1 of 3 used; this node: 2 of 3 left\n");
}, 60_000);

const onNode = (nodeId: string) => ({ ELASTIC_RUN_NODE_ID: nodeId });

it.concurrent("T14 J10 workers that save at PAUSE, and exit with 0 when the next round runs, start one another once, not for ever", async (context) => {
	const flags = ["--restart-policy", "soft"];
	const worker = ["follows.js", "hears"] as const;
	const cluster = new Cluster(etcd(), { nodes: "1:3", flags, worker }, context);
	const [first, second, third] = await cluster.form(
		"node-a",
		"node-b",
		"node-c",
	);
	const ofNode = (round: number, nodeId: string) =>
		cluster.site.sawWorker(round, onNode(nodeId));
	const bothRun = (round: number) =>
		Promise.all(
			[first, second].map((nodeId) =>
				cluster.store.sawNode(nodeId, "running", round),
			),
		);
	const [ofFirst, ofSecond] = [await ofNode(1, first), await ofNode(1, second)];
	await cluster.vanish(third);
	await bothRun(2);
	tell(ofFirst, 0);
	const nextOfFirst = await ofNode(3, first);
	await bothRun(3);
	const why = `${first} asks for a new round: rank 0 `;
	await cluster.launchOf(second).saw("stderr", why);
	tell(ofSecond, 0);
	await cluster.launchOf(first).saw("stderr", "ended at PAUSE");
	tell(nextOfFirst, 0);
	for (const nodeId of [first, second]) tell(await ofNode(4, nodeId), 0);
	await cluster.ends({ [first]: 0, [second]: 0 });
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 4, incidents: 0 });
});

it.concurrent("T16 workers that exit with 1 before they have left the round, on both nodes: one failure, charged once; a second one in the same place is charged", async (context) => {
	const flags = ["--restart-policy", "soft", "--max-restarts", "1"];
	const worker = ["follows.js", "hears"] as const;
	const cluster = new Cluster(etcd(), { nodes: "2", flags, worker }, context);
	const [first, second] = await cluster.form("node-a", "node-b");
	const ofNode = (round: number, nodeId: string) =>
		cluster.site.sawWorker(round, onNode(nodeId));
	const late = await ofNode(1, second);
	tell(await ofNode(1, first), 9);
	const follows = await ofNode(2, first);
	await cluster.store.sawNode(second, "running", 2);
	tell(late, 1);
	const lateAgain = await ofNode(3, second);
	await cluster.store.sawNode(first, "running", 3);
	tell(follows, 1);
	await ofNode(4, first);
	await cluster.store.sawNode(second, "running", 4);
	expect(await cluster.store.round()).toMatchObject({ incidents: 1 });
	tell(lateAgain, 1);
	await ofNode(5, second);
	const round = await cluster.store.round();
	expect(round).toMatchObject({ synced: 5, incidents: 2 });
	await cluster.stop();
});
