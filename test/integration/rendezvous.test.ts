import { expect, it } from "vitest";
import { etcdForAll } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { job, openSite } from "../helpers/launch.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

const etcd = etcdForAll();

it.concurrent("refuses an agent whose settings differ from the run's, with both values, and one whose node id is taken: 3", async () => {
	const site = openSite();
	const start = (nodeId: string, ...flags: readonly string[]) =>
		site.launch(
			[
				...["--rdzv-endpoint", etcd().endpoint, "--run-id", "differ"],
				...["--rdzv-conf", "last_call_timeout=1", ...flags, job("obeys.sh")],
			],
			{ env: { ELASTIC_RUN_NODE_ID: nodeId } },
		);
	const first = start("node-a", "--nnodes", "1:2");
	await site.sawWorkers(1);
	const other = start("node-b", "--nnodes", "1:3", "--max-restarts", "7");
	const { exitCode, stderr } = await other.ended;
	expect(stderr).toContain("--nnodes: 1:2 there, 1:3 here");
	expect(stderr).toContain("--max-restarts: 3 there, 7 here");
	expect(exitCode).toBe(3);
	const twin = await start("node-a", "--nnodes", "1:2").ended;
	expect(twin.stderr).toContain(
		`node id node-a is taken by pid ${first.pid} on this machine; give this agent another --node-id`,
	);
	expect(twin.exitCode).toBe(3);
	first.signal("SIGTERM");
	expect((await first.ended).exitCode).toBe(143);
});

it.concurrent("tries a store that is not there until the join time-out, and names address and reason: 4", async () => {
	const site = openSite();
	const endpoint = `127.0.0.1:${await freePort()}`;
	const { exitCode, stderr } = await site.launch([
		...["--rdzv-endpoint", endpoint, "--rdzv-conf"],
		"join_timeout=2,last_call_timeout=0.5,settle_timeout=1",
		...["--nnodes", "2", "true"],
	]).ended;
	const last = stderr.trimEnd().split("\n").at(-1);
	expect(last).toMatch(/^elastic-run: .*refused/);
	expect(last).toContain(endpoint);
	expect(last).toMatch(/Tried for \d+ s; only agents of this machine/);
	expect(exitCode).toBe(4);
	expect(site.channelDirectories()).toEqual([]);
});
