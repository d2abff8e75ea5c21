import { describe, expect, it } from "vitest";
import { RunKeys } from "../../src/rendezvous/records/keys.js";
import { runCli } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import {
	type EtcdApi,
	etcdDelete,
	etcdForAll,
	etcdPut,
	leaseGrant,
} from "../helpers/etcd.js";
import { openSite } from "../helpers/launch.js";
import {
	historyRecord,
	nodeRecord,
	roundRecord,
	WORLD,
} from "../helpers/run-view.js";

/** Without an effect on what is tried here, but that nothing is waited for in vain. */
const CONF = {
	...{ join_timeout: 20, lease_ttl: 10 },
	...{ settle_timeout: 10, last_call_timeout: 0.1 },
};
const REFUSED = 3;
const ESCAPES = "\u001b[31m\u009b2J\u202e";

type Value = object | string;

interface Garbled {
	/** Below the run's prefix. */
	readonly key: string;
	readonly value: Value;
	readonly hasLease?: boolean;
	/** What the agent must name beside the key. */
	readonly field: string;
}

const running = roundRecord({
	...{ synced: 1, planId: "plan-1", seats: 1, world: WORLD },
});

/**
 * What somebody has written before the run's first agent comes: one of each kind for each key. Which values are none
 * is a table of test/unit/rendezvous/record-codec.test.ts.
 */
const BEFORE: readonly Garbled[] = [
	{ key: "round", value: "no JSON", field: "version 1" },
	{ key: "round", value: { ...running, seats: 5 }, field: "seats" },
	{ key: "nodes/node-a", value: nodeRecord("node-a"), field: "lease" },
];

/** What somebody writes while the run's workers run. The agents' own leases stay where they are. */
const MEANWHILE: readonly Garbled[] = [
	{ key: "round", value: { ...running, synced: 2.5 }, field: "synced" },
	{
		key: "coordinator",
		value: { version: 1, nodeId: "node-x", incarnation: "x" },
		field: "lease",
	},
	{
		key: `nodes/node-x${ESCAPES}`,
		value: nodeRecord("node-x"),
		hasLease: true,
		field: "node id",
	},
];

const etcd = etcdForAll();

/** What a terminal would act on. */
function controlsIn(text: string): readonly string[] {
	return ["\u001b", "\u009b", "\u202e"].filter((one) => text.includes(one));
}

function textOf(value: Value): string {
	return typeof value === "string" ? value : JSON.stringify(value);
}

async function put(
	server: EtcdApi,
	key: string,
	{ value, hasLease = false }: Pick<Garbled, "value" | "hasLease">,
): Promise<string | undefined> {
	const lease = hasLease ? await leaseGrant(server, 60) : undefined;
	await etcdPut(server, key, textOf(value), lease);
	return lease;
}

function nameOf({ key, field, value }: Garbled): string {
	const plain = key.replaceAll(ESCAPES, "");
	return `${plain}: ${field} (${textOf(value).slice(0, 40)})`;
}

const table = (rows: readonly Garbled[]) =>
	rows.map((row) => [nameOf(row), row] as const);

describe("a garbled record of the store", { concurrent: true }, () => {
	it.for(
		table(BEFORE),
	)("that is there already keeps an agent from starting workers: %s", async ([
		,
		row,
	], context) => {
		const cluster = new Cluster(etcd(), { nodes: "1:2", conf: CONF }, context);
		await put(etcd(), cluster.store.keys.prefix + row.key, row);
		const end = await cluster.agent("node-a").ended;
		context.expect(end.stderr).toContain(row.key);
		context.expect(end.stderr).toContain(row.field);
		context.expect(end.exitCode).toBe(REFUSED);
		context.expect(cluster.site.workers()).toEqual([]);
	});

	it.for(
		table(MEANWHILE),
	)("ends the workers of all nodes in order: %s", async ([, row], context) => {
		const cluster = new Cluster(
			etcd(),
			{ nodes: "2", conf: CONF, worker: ["obeys.sh", "tells"] },
			context,
		);
		await cluster.form("node-a", "node-b");
		const { prefix } = cluster.store.keys;
		await put(etcd(), prefix + row.key, row);
		for (const nodeId of ["node-a", "node-b"]) {
			const end = await cluster.launchOf(nodeId).ended;
			context.expect(end.stderr).toContain(row.field);
			context.expect(end.stderr).toContain(row.key.replaceAll(ESCAPES, ""));
			context.expect(end.stderr).not.toMatch(/[\u009b\u202e]/u);
			context.expect(end.stdout).toContain("worker got SIGTERM");
			context.expect(end.exitCode).toBe(REFUSED);
		}
		await cluster.site.isSwept();
	});

	it("is a round of which a seat is missing: it ends with 3 and not with success", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2", conf: CONF }, context);
		const [first, second] = await cluster.form("node-a", "node-b");
		const { keys } = cluster.store;
		await etcdDelete(etcd(), keys.seat(second));
		cluster.succeed(1);
		const ends = await cluster.ends({ [first]: REFUSED, [second]: REFUSED });
		context.expect(ends[first]?.stderr).toContain(keys.round);
		context.expect(ends[first]?.stderr).toContain("its seats is 2");
	});

	it("that only informs people ends no run", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1:2", conf: CONF }, context);
		const { keys } = cluster.store;
		const line = { ...historyRecord({ round: 7 }), begunAt: "soon" };
		await put(etcd(), keys.historyOf(7), { value: line });
		await put(etcd(), keys.waiting, { value: { version: 1, kind: 7 } });
		await cluster.form("node-a");
		await put(etcd(), keys.historyOf(1), { value: "{" });
		await put(etcd(), keys.waiting, { value: "[]" });
		cluster.agent("node-b");
		await cluster.world(2, "node-a", "node-b");
		cluster.succeed(2);
		const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
		context.expect(ends["node-a"]?.stderr).toContain(keys.waiting);
	});
});

describe("commands on a store with a garbled run", () => {
	const BROKEN = "broken";
	const WHOLE = "whole";

	async function ask(...args: readonly string[]) {
		const site = openSite();
		const { endpoint } = etcd();
		return runCli([...args, "--rdzv-endpoint", endpoint], {
			...{ cwd: site.path, env: site.environment },
		});
	}

	async function writeRuns(): Promise<void> {
		const { prefix, round } = new RunKeys(BROKEN);
		await put(etcd(), round, { value: { version: 1, instance: ESCAPES } });
		await put(etcd(), `${prefix}nodes/x${ESCAPES}`, {
			value: nodeRecord("x"),
		});
		const reason = `by ${ESCAPES}\nsomebody`;
		const outcome = { result: "failed", exitCode: 1, reason, root: null };
		const ended = roundRecord({ instance: 5 });
		await put(etcd(), new RunKeys(WHOLE).round, {
			value: { ...ended, outcome },
		});
	}

	it("show the others, name what they cannot read, and print no control sequences", async () => {
		await writeRuns();
		const status = await ask("status");
		expect(status).toMatchObject({ exitCode: 0 });
		expect(status.stdout).toContain(WHOLE);
		expect(status.stderr).toContain(new RunKeys(BROKEN).round);
		const shown = [status];
		for (const name of ["status", "history", "stop"]) {
			const refused = await ask(name, BROKEN);
			expect(refused, name).toMatchObject({ exitCode: REFUSED, stdout: "" });
			expect(refused.stderr).toContain("instance");
			expect(await ask(name, WHOLE)).toMatchObject({ exitCode: 0 });
			shown.push(refused, await ask(name, WHOLE));
		}
		for (const { stdout, stderr } of shown) {
			expect(controlsIn(stdout + stderr)).toEqual([]);
		}
		expect((await ask("stop", WHOLE)).stdout.split("\n")).toHaveLength(2);
	});
});
