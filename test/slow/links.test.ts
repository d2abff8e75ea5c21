import { describe, expect, it } from "vitest";
import type { StatusDocument } from "../../src/http/status-document.js";
import type { NodeLinks } from "../../src/model/index.js";
import { ask, askUntil, observedAt } from "../helpers/ask.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { guardsOf, sawVoice } from "../helpers/guards.js";
import { tell } from "../helpers/obedient-worker.js";
import { signalProcess } from "../helpers/processes.js";
import { sideBySide } from "../helpers/this-test.js";

const etcd = etcdForAll();

const NODES = ["node-a", "node-b", "node-c"] as const;
const OBSERVED = ["--http", "127.0.0.1:0"];
/** Said by who hears a guard. */
const HEARD = "launcher has died, and its guard says";

async function sawLinks(
	url: string,
	isIt: (links: NodeLinks) => boolean,
): Promise<NodeLinks | null> {
	const linksOf = (body: string) =>
		(JSON.parse(body) as StatusDocument).node.links;
	const answer = await askUntil(`${url}/status`, ({ body }) => {
		const links = linksOf(body);
		return links !== null && isIt(links);
	});
	return linksOf(answer.body);
}

/** Asks by the command until it says so, and returns all that it says then. */
function sawStatus(cluster: Cluster, words: string): Promise<string> {
	const { site, store } = cluster;
	const at = ["--rdzv-endpoint", etcd().endpoint];
	return poll(`"${words}" of status`, 60_000, async () => {
		const { ended } = site.launch(["status", store.runId, ...at]);
		const { stdout, stderr } = await ended;
		return (stdout + stderr).includes(words) ? stdout + stderr : undefined;
	});
}

/** Forms a round of three whose guards all have a voice; the coordinator and the others. */
async function formLinked(cluster: Cluster) {
	await cluster.form(...NODES);
	for (const nodeId of NODES) await sawVoice(cluster.launchOf(nodeId).pid);
	const root = (await cluster.store.coordinator()) ?? "";
	const others = NODES.filter((nodeId) => nodeId !== root);
	return { root, others };
}

describe("A9 T5 of agents with links", { concurrent: true }, () => {
	sideBySide();

	it("each that is killed is missed at once, and comes back", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "2:3" }, context);
		await formLinked(cluster);
		for (const nodeId of NODES) {
			for (const each of NODES) await sawVoice(cluster.launchOf(each).pid);
			await cluster.kill(nodeId);
			await cluster.newestWorld(...NODES.filter((other) => other !== nodeId));
			cluster.agent(nodeId);
			await cluster.newestWorld(...NODES);
		}
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 7, charged: 0, incidents: 0 },
		});
		await cluster.stop();
	});

	it("all that are killed at once leave nobody who may ride an outage out: those that come begin the next round", async (context) => {
		const conf = { lease_ttl: 3 };
		const pair = ["node-a", "node-b"];
		const cluster = new Cluster(etcd(), { nodes: "2", conf }, context);
		await cluster.form(...pair);
		const launches = pair.map((nodeId) => cluster.launchOf(nodeId));
		for (const launch of launches) launch.signal("SIGKILL");
		for (const nodeId of pair) await cluster.store.sawNoNode(nodeId);
		for (const nodeId of pair) cluster.agent(nodeId);
		const next = await cluster.store.sawMembers(2);
		await cluster.world(2, ...next);
		await cluster.stop();
	});

	it("one that is killed with its guard is gone when its lease is over", async (context) => {
		const conf = { lease_ttl: 3 };
		const cluster = new Cluster(etcd(), { nodes: "2:3", conf }, context);
		const { root, others } = await formLinked(cluster);
		const { pid } = cluster.launchOf(root);
		const both = [pid, ...guardsOf(pid)];
		for (const each of both) signalProcess(each, "SIGSTOP");
		for (const each of both.reverse()) signalProcess(each, "SIGKILL");
		// Nobody is left who ends its worker.
		const [worker] = cluster.site
			.workers(1)
			.filter(({ env }) => env.ELASTIC_RUN_NODE_ID === root);
		if (worker === undefined) expect.unreachable();
		tell(worker, 0);
		await cluster.newestWorld(...others);
		for (const nodeId of others) {
			expect(cluster.launchOf(nodeId).output.stderr).not.toContain(HEARD);
		}
		cluster.agent(root);
		await cluster.newestWorld(...others, root);
		await cluster.stop();
	});

	it("one that is frozen is suspected, and nothing else happens; then it is heard again", async (context) => {
		const cluster = new Cluster(
			etcd(),
			{ nodes: "2:3", flags: OBSERVED },
			context,
		);
		const { root, others } = await formLinked(cluster);
		const [frozen = ""] = others;
		const url = await observedAt(cluster.launchOf(root));
		await sawLinks(url, ({ heard }) => heard.length === 2);
		cluster.freeze(frozen);
		const links = await sawLinks(url, ({ suspected }) => suspected.length > 0);
		expect(links?.suspected).toEqual([{ nodeId: frozen, why: "silent" }]);
		expect((await ask(`${url}/metrics`)).body).toMatch(
			/^elastic_run_links_suspected\{.*\} 1$/m,
		);
		const words = `links of ${root} on this machine: hears 1 node; not heard: ${frozen} (it says nothing)`;
		await sawStatus(cluster, words);
		cluster.thaw(frozen);
		await sawLinks(url, ({ heard }) => heard.length === 2);
		expect(await cluster.store.round()).toMatchObject({
			...{ synced: 1, deprecated: 0 },
		});
		await cluster.stop();
	});

	it("one whose port is blocked says so once, and the run goes on by leases", async (context) => {
		const conf = { lease_ttl: 5 };
		const cluster = new Cluster(etcd(), { nodes: "2:3", conf }, context);
		// An address for documentation: nobody answers there.
		const flags = ["--local-addr", "192.0.2.1"];
		cluster.agent("node-a", { flags });
		await cluster.store.sawNode("node-a", "ready");
		await cluster.form(...NODES);
		const launch = cluster.launchOf("node-b");
		await launch.saw("stderr", "--links off");
		const { stdout } = await cluster.site.launch([
			...["doctor", "--rdzv-endpoint", etcd().endpoint, "--output", "json"],
			...["--run-id", cluster.store.runId],
		]).ended;
		expect(stdout).toMatch(/node-a, .* at 192\.0\.2\.1:\d+ cannot be called/);
		const told = launch.output.stderr
			.split("\n")
			.filter((line) => line.includes("--links off"));
		expect(told).toEqual([
			expect.stringMatching(
				/node-a cannot be called at 192\.0\.2\.1:\d+ \(.+\)\. .*link_port=PORT/,
			),
		]);
		await cluster.kill("node-c");
		await cluster.newestWorld("node-a", "node-b");
		await cluster.stop();
	});
});

it("A9 agents without links have no port for them, and show none", async () => {
	const flags = [...OBSERVED, "--links", "off"];
	const conf = { lease_ttl: 3 };
	const cluster = new Cluster(etcd(), { nodes: "1:2", flags, conf });
	await cluster.form("node-a", "node-b");
	const url = await observedAt(cluster.launchOf("node-a"));
	const { body } = await ask(`${url}/status`);
	expect(JSON.parse(body).node.links).toBeNull();
	expect((await cluster.store.node("node-a"))?.link).toBeUndefined();
	await cluster.kill("node-b");
	await cluster.newestWorld("node-a");
	expect(cluster.launchOf("node-a").output.stderr).not.toContain(HEARD);
	await cluster.stop();
});
