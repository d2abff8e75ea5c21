import { expect, it } from "vitest";
import { Cluster, killed } from "../helpers/cluster.js";
import { openEtcd } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { livesAt, sawBeat, sawLives } from "../helpers/lives.js";

/** One group of 32, and a small one. */
const NODES = 35;
/** The rank of who speaks for the second group. */
const SPEAKER = 32;
/** So long that a busy machine asks all nodes in time. */
const LEASE_TTL_S = 20;

it("A6 A9 J16 thirty-five launchers hear one another by a speaker, ride an outage out, and go on without it", async () => {
	const etcd = await openEtcd();
	const cluster = new Cluster(etcd, {
		nodes: `${NODES - 1}:${NODES}`,
		conf: { lease_ttl: LEASE_TTL_S },
		worker: ["beats.js"],
	});
	const { site, store } = cluster;
	const names = Array.from({ length: NODES }, (_, index) => `n${index}`);
	const members = await cluster.form(...names);
	const [head = "", speaker = "", last = ""] = [0, SPEAKER, -1].map((rank) =>
		members.at(rank),
	);
	const lives = await sawLives(site, NODES, { round: 1 });
	const at = ["--rdzv-endpoint", etcd.endpoint];
	const says = (nodeId: string, words: string) =>
		poll(`${nodeId} ${words}`, 60_000, async () => {
			const asked = await site.launch(["status", store.runId, ...at]).ended;
			const said = `${asked.stdout}${asked.stderr}`;
			const line = said
				.split("\n")
				.find((one) => one.includes(`links of ${nodeId} `));
			return line?.includes(words) ? line : undefined;
		});
	await says(head, `hears ${NODES - 1} nodes`);
	await says(last, "hears 1 node");

	etcd.suspend();
	await says(head, `${NODES} of ${NODES} heard`);
	await sawBeat(site, lives);
	etcd.resume();
	await cluster.launchOf(last).saw("stderr", ": the round goes on");
	expect(livesAt(site)).toHaveLength(NODES);

	cluster.freeze(last);
	await says(head, `not heard: ${last} (it says nothing)`);
	cluster.thaw(last);
	await says(head, `hears ${NODES - 1} nodes`);

	await cluster.kill(speaker);
	const others = members.filter((nodeId) => nodeId !== speaker);
	await cluster.newestWorld(...others);
	expect((await store.round())?.cause.reason).toEqual(killed(speaker));
	await etcd.close();
}, 240_000);
