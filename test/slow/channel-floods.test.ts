// Workers that report without a pause must not keep their agent from its lease: it would drop
// out of the round, and all nodes would start again. Nor may they fill the launcher's log.
import { expect, it } from "vitest";
import { needPython } from "../fixtures/python/start-python.js";
import type { Job } from "../helpers/cluster.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";

const etcd = etcdForAll();

/** Of the launcher's log and its worker's console together, in bytes. */
const MOST_LOG_BYTES = 200_000;

const FLOODS: readonly (readonly [string, ...Job])[] = [
	["errors in Node", "floods.js", "errors"],
	["20,000 foreign files and replies that it writes", "floods.js", "foreign"],
	["steps in Python", "floods.py", "steps"],
];

it.for(
	FLOODS,
)("a worker that floods its channel costs no round, and the launcher's log stays small: %s", async ([
	,
	...worker
], context) => {
	needPython(context);
	const cluster = new Cluster(etcd(), { nodes: "2", conf: { lease_ttl: 3 } });
	cluster.agent("node-a", { worker });
	await cluster.form("node-a", "node-b");
	const quiet = cluster.site
		.workers(1)
		.find(({ env }) => env.ELASTIC_RUN_NODE_ID === "node-b");
	if (quiet === undefined) expect.unreachable();
	await cluster.store.sawNode("node-a", "finished", 1);
	tell(quiet, 0);
	const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
	expect(await cluster.store.round()).toMatchObject({
		synced: 1,
		incidents: 0,
	});
	expect(ends["node-a"]?.stderr.length).toBeLessThan(MOST_LOG_BYTES);
});
