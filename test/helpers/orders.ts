import { expect } from "vitest";
import type { Cluster } from "./cluster.js";
import type { EtcdServer } from "./etcd.js";

/** Commands on a cluster's run, as an operator gives them on a machine without a node of it. */
export function ordersBy(etcd: () => EtcdServer) {
	const order = (cluster: Cluster, ...args: readonly string[]) => {
		const [command = "", ...others] = args;
		const { runId } = cluster.store;
		const named = ["--run-id", runId, "--rdzv-endpoint", etcd().endpoint];
		return cluster.site.launch([command, ...others, ...named], {
			env: { ELASTIC_RUN_NODE_ID: "" },
		}).ended;
	};
	/** Expects that it succeeds; resolves with its stdout. */
	const ordered = async (cluster: Cluster, ...args: readonly string[]) => {
		const { exitCode, stdout, stderr } = await order(cluster, ...args);
		expect(exitCode, stderr).toBe(0);
		return stdout;
	};
	return { order, ordered };
}
