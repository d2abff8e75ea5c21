import { describe, expect, it } from "vitest";
import {
	type EtcdServer,
	etcdDeletePrefix,
	startEtcd,
} from "../helpers/etcd.js";
import { job, openSite } from "../helpers/launch.js";

const WAYS: readonly [string, (etcd: EtcdServer) => Promise<unknown>][] = [
	["deleted by hand", (etcd) => etcdDeletePrefix(etcd, "/elastic-run/gone/")],
	["lost with all of etcd's data", (etcd) => etcd.wipe()],
];

describe("a run whose keys are gone", () => {
	it.each(
		WAYS,
	)("because they were %s ends on all nodes, with its reason and without workers", async (_, lose) => {
		const etcd = await startEtcd();
		const site = openSite();
		const launches = ["node-a", "node-b"].map((nodeId) =>
			site.launch([
				...["--rdzv-endpoint", etcd.endpoint, "--nnodes", "2"],
				...["--run-id", "gone", "--node-id", nodeId, job("works.sh")],
			]),
		);
		await site.sawWorkers(2);
		await lose(etcd);
		for (const { exitCode, stderr } of await Promise.all(
			launches.map(({ ended }) => ended),
		)) {
			expect(exitCode).toBe(3);
			expect(stderr).toContain("the run's keys are gone from the store");
		}
		expect(site.livingProcesses()).toEqual([]);
	});
});
