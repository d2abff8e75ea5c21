import { describe, expect, it } from "vitest";
import {
	formBehindProxies,
	type ProxiedRun,
} from "../helpers/agents-behind-proxies.js";
import type { Job } from "../helpers/cluster.js";
import {
	failWorker,
	livesAt,
	releaseWorkers,
	sawBeat,
	sawEnd,
	sawLives,
} from "../helpers/lives.js";
import { waitFor } from "../helpers/processes.js";
import type { TcpProxy } from "../helpers/tcp-proxy.js";
import { together } from "../helpers/together.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const PLAIN: Job = ["beats.js"];
/** They end by SIGKILL only, for which an agent has less time left before its lease ends. */
const STUBBORN: Job = ["beats.js", "ignores-sigterm"];

async function succeed({ cluster, members }: ProxiedRun): Promise<void> {
	releaseWorkers(cluster.site);
	await cluster.ends(Object.fromEntries(members.map((nodeId) => [nodeId, 0])));
}

/**
 * Cuts one node off for so long that the others go on without it, and lets it come back.
 */
async function cutOff(
	breakOff: (proxy: TcpProxy) => void,
	who: "coordinator" | "other",
	{ worker, leaseTtl }: { worker: Job; leaseTtl: number },
): Promise<void> {
	const run = await formBehindProxies(NODES, {
		nodes: "2:3",
		conf: { lease_ttl: leaseTtl },
		// Fencing must not wait for it.
		flags: ["--shutdown-timeout", "2"],
		worker,
	});
	const { cluster, members, proxyOf } = run;
	const { site, store } = cluster;
	const coordinator = await store.coordinator();
	const isLost = (nodeId: string) =>
		(nodeId === coordinator) === (who === "coordinator");
	const lost = members.find(isLost) ?? "";
	const others = members.filter((nodeId) => nodeId !== lost);
	breakOff(proxyOf(lost));
	await cluster.world(2, ...others);

	const [firstWithout] = await sawLives(site, 2, { round: 2 });
	const ended = livesAt(site, { nodeId: lost });
	expect(ended).toHaveLength(1);
	await sawEnd(ended);
	const [last] = ended;
	expect(last?.lastBeat).toBeLessThan(firstWithout?.born ?? 0);

	const { stderr } = cluster.launchOf(lost).output;
	expect(stderr).toContain("RUNNING→STOPPING no keepalive was acknowledged");
	await cluster.launchOf(lost).saw("stderr", "the store is lost, and is tried");
	await proxyOf(lost).resume();
	await cluster.world(3, ...others, lost);
	await cluster.launchOf(lost).saw("stderr", "the store is back after ");
	const round = await store.round();
	expect(round).toMatchObject({ incidents: 0, charged: 0 });
	expect((await store.history())[1]?.cause.reason).toBe(
		`${lost} left: lease expired`,
	);
	await succeed(run);
}

describe("a node that is cut off from the store", () => {
	it("T5 T8 J14 has no worker any more before the others run without it, and comes back as the last one", () => {
		const plain = { worker: PLAIN, leaseTtl: 3 };
		const stubborn = { worker: STUBBORN, leaseTtl: 6 };
		return together({
			"and hears nothing and is not heard": () =>
				cutOff((proxy) => proxy.stall(), "other", plain),
			"by refusals, as the coordinator": () =>
				cutOff((proxy) => proxy.cut(), "coordinator", plain),
			"with workers that do not mind SIGTERM": () =>
				cutOff((proxy) => proxy.stall(), "coordinator", stubborn),
		});
	});

	it("T5 T8 in one direction only is as good as gone", () => {
		const plain = { worker: PLAIN, leaseTtl: 3 };
		return together({
			"and is not heard": () =>
				cutOff((proxy) => proxy.oneWay("to-client"), "coordinator", plain),
			"and hears nothing": () =>
				cutOff((proxy) => proxy.oneWay("to-server"), "other", plain),
		});
	});
});

describe("a way to the store that breaks for less than a lease's time to live", () => {
	/** Within a third of it a mute connection is given up. */
	const conf = { lease_ttl: 15 };

	it("J6 J16 is missed by no worker, and no news gets lost", () => {
		const play = async (disturb: (proxy: TcpProxy) => void): Promise<void> => {
			const run = await formBehindProxies(["node-a", "node-b"], {
				nodes: "2",
				conf,
			});
			const { cluster, members, lives, proxyOf } = run;
			const [heard = "", disturbed = ""] = members;
			const proxy = proxyOf(disturbed);
			const { accepted } = proxy;
			disturb(proxy);
			await waitFor("another connection", () => proxy.accepted > accepted);
			await proxy.resume();
			await sawBeat(cluster.site, lives);
			expect(livesAt(cluster.site)).toHaveLength(2);

			// What happens elsewhere is heard over the new connection.
			failWorker(cluster.site, 1, members.indexOf(heard));
			await cluster.world(2, ...members);
			const round = await cluster.store.round();
			expect(round).toMatchObject({ incidents: 1, charged: 1 });
			await succeed(run);
			expect(proxy.accepted - accepted).toBeLessThan(4);
		};
		return together({
			"the connections are reset": () => play((proxy) => proxy.reset()),
			"the old connections are mute": () => play((proxy) => proxy.stallOld()),
			"all connections are mute": () => play((proxy) => proxy.stall()),
		});
	});
});
