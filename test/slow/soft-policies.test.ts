import { expect, it } from "vitest";
import { example } from "../fixtures/checkpoint-examples.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import {
	eventsOf,
	expectInOrder,
	expectSpared,
	sawEvent,
} from "../helpers/followers.js";
import { job, openSite } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { RunInStore } from "../helpers/run-in-store.js";

const etcd = etcdForAll();

it("T12 examples/pause-on-scale-policy.js: workers keep their processes, and the run pays for a failure", async () => {
	const policy = example("pause-on-scale-policy.js");
	const cluster = new Cluster(etcd(), {
		nodes: "1:2",
		flags: ["--restart-policy", policy, "--max-restarts", "0"],
		worker: ["follows.js"],
	});
	const [first, second] = await cluster.form("node-a", "node-b");
	const [survivor] = cluster.site.workers(1);
	if (survivor === undefined) throw new Error("no worker");
	await cluster.vanish(second);
	await sawEvent([survivor], "WORK", 2);
	cluster.agent(second);
	const [fails] = await cluster.site.sawWorkers(1, 3);
	await sawEvent([survivor], "WORK", 3);
	expectSpared([survivor]);
	expectInOrder(survivor);
	expect(eventsOf(survivor).map(({ changeEvent }) => changeEvent)).toEqual([
		null,
		...["SCALE_DOWN", "SCALE_DOWN"],
		...["SCALE_UP", "SCALE_UP"],
	]);
	if (fails) tell(fails, 9);
	const ends = await cluster.ends({ [first]: 1, [second]: 1 });
	expect(ends[first]?.stderr).toContain("the budget of 0 restarts is spent");
});

it("T1 launchAgent with RestartPolicy.SOFT: two agents in a program, one is aborted, the other one's workers go on", async () => {
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

it.each([
	"soft",
	"soft-replace",
])("J8 %s on one machine: with its only node's budget the run has failed, and no other node is waited for", async (policy) => {
	const site = openSite();
	const flags = ["--restart-policy", policy, "--max-restarts", "1"];
	const launch = site.launch([...flags, job("exits-with.sh"), "0:9"]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(1);
	expect(site.workers()).toHaveLength(2);
	expect(stderr).toContain("the budget of 1 restarts is spent");
	expect(stderr).not.toContain("may take its place");
	await site.isSwept();
});

it("T1 an unknown policy fails before anything starts", async () => {
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
