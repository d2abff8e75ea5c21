import { describe, expect, it } from "vitest";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";
import { isAlive, waitFor } from "../helpers/processes.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const NO_RESTART = { charged: 0, incidents: 0 };
/** Whoever is charged ends the run, or its node. */
const NO_BUDGET = ["--max-restarts", "0"];
const POLICIES = ["hard", "soft", "soft-replace"] as const;

const etcd = etcdForAll();

/** Three nodes of one worker each: one that is to go, one whose worker dies of it, and the coordinator. */
async function formThree(cluster: Cluster) {
	const members = await cluster.form(...NODES);
	const coordinator = (await cluster.store.coordinator()) ?? "";
	const [goes = "", bereaved = ""] = members.filter(
		(nodeId) => nodeId !== coordinator,
	);
	const worker = cluster.worker(1, members.indexOf(bereaved));
	const stay = members.filter((nodeId) => nodeId !== goes);
	return { coordinator, goes, worker, stay };
}

describe("a worker that fails of a node's end", { concurrent: true }, () => {
	it.for(
		POLICIES,
	)("T6 T8 before the lease of the one that was killed is over costs nothing, under %s", async (policy, context) => {
		const flags = [...NO_BUDGET, "--restart-policy", policy];
		const cluster = new Cluster(etcd(), { nodes: "2:3", flags }, context);
		const { goes, worker, stay } = await formThree(cluster);
		await cluster.kill(goes);
		tell(worker, 9);
		const left = await cluster.store.sawRound(
			"round 1 to be left",
			({ deprecated }) => deprecated === 1,
		);
		expect(left).toMatchObject({
			...{ charged: 0, incidents: 1 },
			cause: { root: { exitCode: 9 } },
			unpaid: { failure: { exitCode: 9 } },
		});
		await cluster.store.endLease(goes);
		await cluster.world(2, ...stay);
		const round = await cluster.store.round();
		expect(round).toMatchObject({
			...NO_RESTART,
			cause: { reason: `${goes} left: lease expired`, root: null },
		});
		expect(round?.unpaid).toBeUndefined();
		await cluster.stop();
	});

	it("T9 costs nothing where one look of the coordinator finds both", async (context) => {
		const options = { nodes: "2:3", flags: NO_BUDGET };
		const cluster = new Cluster(etcd(), options, context);
		const { coordinator, goes, worker, stay } = await formThree(cluster);
		cluster.freeze(coordinator);
		cluster.launchOf(goes).signal("SIGTERM");
		await cluster.store.sawNode(goes, "leaving");
		tell(worker, 9);
		await waitFor("the worker's end", () => !isAlive(worker.pid));
		await cluster.store.sawNode(
			worker.env.ELASTIC_RUN_NODE_ID ?? "",
			"ready",
			2,
		);
		cluster.thaw(coordinator);
		await cluster.world(2, ...stay);
		expect(await cluster.store.round()).toMatchObject({
			...NO_RESTART,
			cause: { kind: "scale-down", root: null },
		});
		// One that has ended, or nearly, is not to be told to stop once more.
		await cluster.ends({ [goes]: 143 });
		await cluster.stop();
	});
});
