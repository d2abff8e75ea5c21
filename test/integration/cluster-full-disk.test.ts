import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { fillDisk, mountSmall } from "../helpers/machine.js";
import { tell } from "../helpers/obedient-worker.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();

/** Takes all the room that a small file system has, and that what is removed there would give back. */
function fill(folder: string): void {
	const [channels = ""] = readdirSync(folder);
	const words = ["-al", join(folder, channels), join(folder, "kept")];
	execFileSync("cp", words);
	fillDisk(join(folder, "others"));
}

/** Whether the channel of the next worker is there: it is made ahead. */
function hasNextChannel(folder: string): boolean {
	const names = readdirSync(folder, { recursive: true }).map(String);
	return names.some((name) => name.includes("w0.2/"));
}

it("J6 a node without room for its workers' channels leaves with 75, and the others go on", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" }, context);
	const small = join(cluster.site.path, "small");
	mountSmall(context, small, "1m");
	cluster.agent("node-b", { env: { ELASTIC_RUN_DIR: small } });
	const members = await cluster.form("node-a", "node-b");

	await waitFor("the next channel", () => hasNextChannel(small));
	fill(small);
	tell(cluster.worker(1, members.indexOf("node-a")), 1);
	const { "node-b": left } = await cluster.ends({ "node-b": 75 });
	expect(left?.stderr).toMatch(
		/rank \d cannot be started: .*ENOSPC.*Make room.*\(tried again for 20 s\)/,
	);
	expect(left?.stderr).toContain("round 2: started 0 of 2 workers");
	await cluster.world(3, "node-a");
	expect(await cluster.store.round()).toMatchObject({
		...{ incidents: 1, charged: 1 },
		cause: { reason: expect.stringContaining("node-b left: rank") },
	});
	cluster.succeed(3);
	await cluster.ends({ "node-a": 0 });
});
