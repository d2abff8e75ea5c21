import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import type { WorkerRecord } from "../helpers/launch.js";
import { tell } from "../helpers/obedient-worker.js";
import { isAlive, waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();
const FLAGS = [
	...["--failover-scope", "role", "--driver-role", "trainer"],
	...["--max-restarts", "9", "--max-identical-failures", "0"],
];

interface Heard {
	readonly kind: string;
	readonly changeEvent: string | null;
	readonly reason: string;
	readonly round: number;
}

/** The WORK events that a worker of the job follows.js has heard. */
function heardBy({ pid, env }: WorkerRecord): readonly Heard[] {
	const file = join(env.JOB_RECORDS ?? "", `${pid}.events`);
	if (!existsSync(file)) return [];
	const lines = readFileSync(file, "utf8").trim().split("\n");
	return lines.map((line) => JSON.parse(line));
}

it("D3 D5 J23 a reader that crashes five times restarts alone, and D10 the run ends with its trainers", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "3", flags: FLAGS }, context);
	cluster.agent("node-t", { role: "trainer", worker: ["follows.js", "hears"] });
	cluster.agent("node-u", { role: "trainer" });
	cluster.agent("node-r", { role: "reader" });
	await cluster.site.sawWorkers(3, 1);
	const find = (role: string, round: number) =>
		cluster.site.sawWorker(round, { ROLE_NAME: role });
	const trainers = cluster.site
		.workers(1)
		.filter(({ env }) => env.ROLE_NAME === "trainer");
	for (let round = 1; round <= 5; round++) {
		tell(await find("reader", round), 3);
		const { env } = await find("reader", round + 1);
		expect(env).toMatchObject({ WORLD_SIZE: "3", ROLE_RANK: "0" });
	}
	expect(cluster.site.workers()).toHaveLength(3 + 5);
	expect(trainers.map(({ pid }) => isAlive(pid))).toEqual([true, true]);
	const listener = await cluster.site.sawWorker(1, {
		ELASTIC_RUN_NODE_ID: "node-t",
	});
	const heard = await waitFor("all events", () => {
		const events = heardBy(listener);
		return events.length > 5 && events;
	});
	expect(heard.map(({ kind }) => kind)).toEqual(Array(6).fill("WORK"));
	expect(heard[5]).toMatchObject({ round: 6, changeEvent: "SCALE_DOWN" });
	expect(heard[5]?.reason).toContain("role reader: ");
	for (const trainer of trainers) tell(trainer, 0);
	const ends = await cluster.ends({ "node-t": 0, "node-u": 0, "node-r": 0 });
	expect(ends["node-r"]?.stderr).toContain(
		"all workers of the driver role trainer succeeded",
	);
	expect(ends["node-t"]?.stderr).not.toContain("STOPPING");
});
