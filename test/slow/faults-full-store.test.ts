import { expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { type EtcdServer, startEtcd } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";

const QUOTA_BYTES = 2_000_000;
const CHUNK_BYTES = 300_000;
const text = (value: string) => Buffer.from(value).toString("base64");

/** Somebody else's keys take all the room that etcd has. */
async function fill(etcd: EtcdServer): Promise<readonly string[]> {
	const keys: string[] = [];
	const value = text("x".repeat(CHUNK_BYTES));
	for (;;) {
		const key = text(`/others/${keys.length}`);
		try {
			await etcd.call("/v3/kv/put", { key, value });
		} catch (error) {
			expect(String(error)).toContain("database space exceeded");
			return keys;
		}
		keys.push(key);
	}
}

/** What etcd's manual says is to be done: delete, compact, defragment, disarm. */
async function makeRoom(etcd: EtcdServer, keys: readonly string[]) {
	for (const key of keys) await etcd.call("/v3/kv/deleterange", { key });
	const { header } = await etcd.call<{ header: { revision: string } }>(
		"/v3/kv/range",
		{ key: text("/others/") },
	);
	const { revision } = header;
	await etcd.call("/v3/kv/compaction", { revision, physical: true });
	await etcd.call("/v3/maintenance/defragment");
	const { alarms } = await etcd.call<{ alarms: readonly object[] }>(
		"/v3/maintenance/alarm",
		{ action: "GET" },
	);
	for (const alarm of alarms) {
		await etcd.call("/v3/maintenance/alarm", {
			action: "DEACTIVATE",
			...alarm,
		});
	}
}

it("J6 an etcd without room is said by who has something to write, touches no worker, and is gone on with", async () => {
	const etcd = await startEtcd({
		flags: ["--quota-backend-bytes", String(QUOTA_BYTES)],
	});
	const cluster = new Cluster(etcd, { nodes: "2" });
	const [first, second] = await cluster.form("node-a", "node-b");
	const keys = await fill(etcd);

	tell(cluster.worker(1, 1), 9);
	const { output } = cluster.launchOf(second);
	await cluster
		.launchOf(second)
		.saw("stderr", "the store answers but takes no writes");
	expect(output.stderr).toContain("database space exceeded");
	expect(cluster.launchOf(first).output.stderr).not.toContain("STOPPING");

	await makeRoom(etcd, keys);
	await cluster.world(2, first, second);
	expect(await cluster.store.round()).toMatchObject({ incidents: 1 });
	await cluster.launchOf(second).saw("stderr", "the store takes writes again");
	cluster.succeed(2);
	await cluster.ends({ "node-a": 0, "node-b": 0 });
});
