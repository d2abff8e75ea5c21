import { expect, it } from "vitest";
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
