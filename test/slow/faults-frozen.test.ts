import { describe, expect, it } from "vitest";
import { formBehindProxies } from "../helpers/agents-behind-proxies.js";
import { etcdForAll } from "../helpers/etcd.js";
import {
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";

const etcd = etcdForAll();

/** The first one coordinates. */
const TWO = { "node-a": {}, "node-b": {} };
const THREE = { ...TWO, "node-c": {} };
const FENCED = "RUNNING→STOPPING this node's lease was not confirmed for";
/** So long that no agent of a busy machine misses its keepalives. */
const SHORT_TTL = 5;

describe("an agent that is frozen", { concurrent: true }, () => {
	it("T5 T8 J14 for longer than its lease lives ends its workers on waking, before it asks anybody, and comes back as the last one", async (context) => {
		const conf = { lease_ttl: SHORT_TTL };
		const run = await formBehindProxies(context, etcd(), THREE, {
			nodes: "2:3",
			conf,
		});
		const { cluster, members, proxyOf } = run;
		const { site, store } = cluster;
		const others = members.filter((nodeId) => nodeId !== "node-a");
		const frozen = cluster.launchOf("node-a");
		cluster.freeze("node-a");
		await cluster.world(2, ...others);
		// A process that stands still can end nothing; its workers know nothing of that.
		const left = livesAt(site, { nodeId: "node-a" });
		await sawBeat(site, left);
		const causes = (await store.history()).map(({ cause }) => cause.reason);
		expect(causes[1]).toBe("node-a left: lease expired");

		const proxy = proxyOf("node-a");
		proxy.stall();
		const { length } = frozen.output.stderr;
		frozen.signal("SIGCONT");
		await sawEnd(left);
		await frozen.saw("stderr", FENCED);
		const [firstWords] = frozen.output.stderr.slice(length).split("\n");
		expect(firstWords).toContain(FENCED);
		expect(livesAt(site, { nodeId: "node-a" })).toHaveLength(1);

		await proxy.resume();
		cluster.thaw("node-a");
		await cluster.world(3, ...others, "node-a");
		const round = await store.round();
		expect(round).toMatchObject({ incidents: 0, charged: 0 });
		releaseWorkers(site);
		await cluster.ends({ "node-a": 0, "node-b": 0, "node-c": 0 });
	});

	it("J7 for so long that it was replaced ends with 3 on waking, and disturbs nobody", async (context) => {
		const conf = { lease_ttl: SHORT_TTL };
		const run = await formBehindProxies(context, etcd(), TWO, {
			nodes: "2",
			conf,
		});
		const { cluster } = run;
		const { site, store } = cluster;
		const frozen = cluster.launchOf("node-a");
		const left = livesAt(site, { nodeId: "node-a" });
		cluster.freeze("node-a");
		const replacement = cluster.agent("node-a");
		await cluster.world(2, "node-b", "node-a");
		const lives = await sawLives(site, 2, { round: 2 });
		frozen.signal("SIGCONT");
		const { exitCode, stderr } = await frozen.ended;
		expect(stderr).toContain(FENCED);
		expect(stderr).toContain(
			`node id node-a is taken by pid ${replacement.pid} on this machine`,
		);
		expect(exitCode).toBe(3);
		await sawEnd(left);
		cluster.thaw("node-a");
		await sawBeat(site, lives);
		const round = await store.round();
		expect(round).toMatchObject({ synced: 2, deprecated: 1, incidents: 0 });
		releaseWorkers(site);
		await cluster.ends({ "node-a": 0, "node-b": 0 });
		expect(livesAt(site)).toHaveLength(4);
	});
});
