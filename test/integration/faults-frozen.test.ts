import { describe, expect, it } from "vitest";
import { formBehindProxies } from "../helpers/agents-behind-proxies.js";
import { Cluster } from "../helpers/cluster.js";
import { startEtcd } from "../helpers/etcd.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";
import { together } from "../helpers/together.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const FENCED = "RUNNING→STOPPING no keepalive was acknowledged for 0.8 of";
const SHORT_TTL = 2;
/** Longer than anything here takes. */
const LONG_TTL = 40;

/** Which node coordinates, and which do not. */
async function roles({ store }: Cluster, members: readonly string[]) {
	const coordinator = await store.coordinator();
	const others = members.filter((nodeId) => nodeId !== coordinator);
	return { coordinator: coordinator ?? "", others };
}

describe("an agent that is frozen for longer than its lease lives", () => {
	it("T5 T8 J14 ends its workers on waking, before it asks anybody, and comes back as the last one", async () => {
		const run = await formBehindProxies(NODES, {
			nodes: "2:3",
			conf: { lease_ttl: SHORT_TTL },
		});
		const { cluster, members, proxyOf } = run;
		const { site, store } = cluster;
		const { coordinator, others } = await roles(cluster, members);
		const frozen = cluster.launchOf(coordinator);
		cluster.freeze(coordinator);
		await cluster.world(2, ...others);
		// A process that stands still can end nothing; its workers know nothing of that.
		const left = livesAt(site, { nodeId: coordinator });
		await sawBeat(site, left);
		const outage = await store.history();
		expect(outage[1]?.cause.reason).toBe(`${coordinator} left: lease expired`);

		const proxy = proxyOf(coordinator);
		proxy.stall();
		frozen.signal("SIGCONT");
		await sawEnd(left);
		const said = frozen.output.stderr;
		expect(said).toContain(FENCED);
		expect(livesAt(site, { nodeId: coordinator })).toHaveLength(1);

		await proxy.resume();
		cluster.thaw(coordinator);
		await cluster.world(3, ...others, coordinator);
		const round = await store.round();
		expect(round).toMatchObject({ incidents: 0, charged: 0 });
		releaseWorkers(site);
		await cluster.ends({ "node-a": 0, "node-b": 0, "node-c": 0 });
	});

	it("J7 and was replaced meanwhile ends with 3 on waking, and disturbs nobody", async () => {
		const etcd = await startEtcd();
		const cluster = new Cluster(etcd, {
			nodes: "2",
			conf: { lease_ttl: SHORT_TTL },
			worker: ["beats.js"],
		});
		const { site, store } = cluster;
		const members = await cluster.form("node-a", "node-b");
		const { coordinator, others } = await roles(cluster, members);
		const frozen = cluster.launchOf(coordinator);
		const [left] = await sawLives(site, 1, { nodeId: coordinator });
		cluster.freeze(coordinator);
		const replacement = cluster.agent(coordinator);
		await cluster.world(2, ...others, coordinator);
		const lives = await sawLives(site, 2, { round: 2 });
		frozen.signal("SIGCONT");
		const { exitCode, stderr } = await frozen.ended;
		expect(stderr).toContain(FENCED);
		expect(stderr).toContain(
			`node id ${coordinator} is taken by pid ${replacement.pid} on this machine`,
		);
		expect(exitCode).toBe(3);
		if (left) await sawEnd([left]);
		cluster.thaw(coordinator);
		await sawBeat(site, lives);
		const round = await store.round();
		expect(round).toMatchObject({ synced: 2, deprecated: 1, incidents: 0 });
		releaseWorkers(site);
		await cluster.ends({ "node-a": 0, "node-b": 0 });
		expect(livesAt(site)).toHaveLength(4);
	});
});

describe("an agent that is frozen for less than its lease lives", () => {
	it("J2 is missed by nobody, and finds the newest round where the others went on", () =>
		together({
			"the coordinator, and nothing happens meanwhile": async () => {
				const run = await formBehindProxies(NODES.slice(0, 2), {
					nodes: "2",
					conf: { lease_ttl: LONG_TTL },
				});
				const { cluster, lives, members, proxyOf } = run;
				const { coordinator } = await roles(cluster, members);
				cluster.freeze(coordinator);
				// Everything that it had open is broken when it wakes.
				proxyOf(coordinator).reset();
				await sawBeat(cluster.site, lives);
				cluster.thaw(coordinator);
				releaseWorkers(cluster.site);
				await cluster.ends({ "node-a": 0, "node-b": 0 });
				expect(livesAt(cluster.site)).toHaveLength(2);
			},
			"another, over two group restarts": async () => {
				const etcd = await startEtcd();
				const cluster = new Cluster(etcd, {
					nodes: "2:3",
					conf: { lease_ttl: LONG_TTL, settle_timeout: 1 },
					worker: ["beats.js"],
				});
				const { site, store } = cluster;
				const members = await cluster.form(...NODES);
				const { others, coordinator } = await roles(cluster, members);
				const [frozen = ""] = others;
				const awake = members.filter((nodeId) => nodeId !== frozen);
				cluster.freeze(frozen);
				const failing = members.indexOf(coordinator);
				failWorker(site, 1, failing);
				await cluster.world(2, ...awake);
				failWorker(site, 2, awake.indexOf(coordinator));
				await cluster.world(3, ...awake);
				expect(cluster.launchOf(frozen).output.stderr).not.toContain("round 2");
				cluster.thaw(frozen);
				await cluster.world(4, ...awake, frozen);
				const round = await store.round();
				expect(round).toMatchObject({ incidents: 2, charged: 2 });
				// It went from the first round to the fourth.
				expect(
					livesAt(site, { nodeId: frozen }).map(({ round }) => round),
				).toEqual([1, 4]);
				releaseWorkers(site);
				await cluster.ends({ "node-a": 0, "node-b": 0, "node-c": 0 });
			},
		}));
});
