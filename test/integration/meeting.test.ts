import { expect, it } from "vitest";
import { needEtcd } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { job, openSite } from "../helpers/launch.js";
import { releaseWorkers, sawLives } from "../helpers/lives.js";
import { Meeting } from "../helpers/meeting.js";
import { sideBySide } from "../helpers/this-test.js";

sideBySide();

it.concurrent("two agents meet at an etcd that the first one hosts, and that ends with the run", async () => {
	const meeting = await Meeting.at([2], "2");
	meeting.agent(3, "--monitor-interval=1", "--start-method", "spawn");
	const host = meeting.agent(2);
	await sawLives(meeting.site, 2, { round: 1 });
	expect(meeting.keepers()).toHaveLength(1);
	releaseWorkers(meeting.site);
	await meeting.ends(0, 0);
	expect(host.output.stderr).toContain(": this machine hosts it");
	await meeting.isOver();
});

it.concurrent("torchrun's own line for one node runs without an etcd", async () => {
	const { exitCode, stdout, stderr } = await openSite().launch([
		...["--rdzv-backend=c10d", "--rdzv-endpoint=localhost:0", "--nnodes=1"],
		...["--nproc-per-node=2", "sh", "-c", "echo rank $RANK of $WORLD_SIZE"],
	]).ended;
	expect(exitCode, stderr).toBe(0);
	expect(stdout).toContain("rank 0 of 2\n");
	expect(stdout).toContain("rank 1 of 2\n");
});

it.concurrent("torchrun's variables alone bring together the pods of an elastic PyTorchJob", async () => {
	needEtcd();
	const site = openSite();
	const variables = {
		ELASTIC_RUN_NODE_ID: "",
		PET_RDZV_BACKEND: "c10d",
		PET_RDZV_ENDPOINT: `127.0.0.1:${await freePort()}`,
		PET_NNODES: "2:2",
		PET_NPROC_PER_NODE: "2",
		PET_MAX_RESTARTS: "3",
		PET_RDZV_CONF: "last_call_timeout=5",
	};
	const launches = [0, 1].map(() =>
		site.launch([job("beats.js")], { env: variables }),
	);
	const lives = await sawLives(site, 4, { round: 1 });
	expect(lives.map(({ rank }) => rank).sort()).toEqual([0, 1, 2, 3]);
	for (const { env } of await site.sawWorkers(4, 1)) {
		expect(env).toMatchObject({ WORLD_SIZE: "4", PET_NPROC_PER_NODE: "2" });
	}
	releaseWorkers(site);
	for (const { ended } of launches) {
		const { exitCode, stderr } = await ended;
		expect(exitCode, stderr).toBe(0);
		expect(stderr).not.toContain("no effect");
	}
});
