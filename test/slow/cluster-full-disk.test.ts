import { join } from "node:path";
import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { fillForGood, mountSmall } from "../helpers/machine.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

it("J6 a node without room for its workers' channels leaves with 75, and the others go on", async (context) => {
	const cluster = new Cluster(etcd(), { nodes: "1:2" }, context);
	const small = join(cluster.site.path, "small");
	mountSmall(context, small, "1m");
	cluster.agent("node-b", { env: { ELASTIC_RUN_DIR: small } });
	const members = await cluster.form("node-a", "node-b");

	await fillForGood(small, 1);
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
