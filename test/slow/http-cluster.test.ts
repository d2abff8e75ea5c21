import { describe, expect, it } from "vitest";
import type { StatusDocument } from "../../src/http/status-document.js";
import { ask, askUntil, observedAt } from "../helpers/ask.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { parseMetrics } from "../helpers/parse-metrics.js";

const etcd = etcdForAll();

const TOKEN = "a-token-of-enough-characters";
const BEARER = { Authorization: `Bearer ${TOKEN}` };
const FLAGS = ["--http", "127.0.0.1:0"];
const env = { ELASTIC_RUN_HTTP_TOKEN: TOKEN };

/** Starts an agent that others need, and waits until it can be observed. */
function observe(cluster: Cluster, nodeId: string): Promise<string> {
	return observedAt(
		cluster.agent(nodeId, { env: { ...env, ELASTIC_RUN_NODE_ID: nodeId } }),
	);
}

const isStatus =
	(isIt: (document: StatusDocument) => boolean) =>
	({ status, body }: { readonly status: number; readonly body: string }) =>
		status === 200 && isIt(JSON.parse(body));

describe("nodes of one run", { concurrent: true }, () => {
	it("each tell of all, say what they wait for, and leave one by one", async (context) => {
		const options = {
			nodes: "1:2",
			flags: FLAGS,
			conf: { last_call_timeout: 20 },
		};
		const cluster = new Cluster(etcd(), options, context);
		const first = await observe(cluster, "node-a");
		const probe = await askUntil(
			`${first}/readyz`,
			({ body }) => body.includes("last call"),
			{ headers: BEARER },
		);
		expect(probe.status).toBe(503);
		expect(probe.body).toMatch(
			/^not ready: last call \(at most 2 nodes\): node-a is here/,
		);
		const second = await observe(cluster, "node-b");
		await cluster.form("node-a", "node-b");
		const isWhole = isStatus(
			({ run }) =>
				run?.nodes.length === 2 &&
				run.nodes.every(({ state }) => state === "running"),
		);
		const documents = await Promise.all(
			[first, second].map(async (url): Promise<StatusDocument> => {
				const answer = await askUntil(`${url}/status`, isWhole, {
					headers: BEARER,
				});
				return JSON.parse(answer.body);
			}),
		);
		expect(documents[0]?.run).toEqual(documents[1]?.run);
		expect(documents.map(({ node }) => node.nodeId)).toEqual([
			"node-a",
			"node-b",
		]);
		expect(documents[0]?.run?.place).toBe(etcd().endpoint);
		expect(
			documents[1]?.timeline?.nodes.map(({ nodeId }) => nodeId).sort(),
		).toEqual([...["node-a", "node-b"]]);

		const left = await ask(`${second}/leave`, {
			method: "POST",
			headers: BEARER,
		});
		expect(left.status).toBe(202);
		await cluster.ends({ "node-b": 143 });
		await cluster.world(2, "node-a");
		const ready = await askUntil(
			`${first}/readyz`,
			({ status }) => status === 200,
		);
		expect(ready.body).toBe("ready\n");
		const { body } = await askUntil(
			`${first}/metrics`,
			({ body }) => /rounds_total\{cause="scale-down"/.test(body),
			{ headers: BEARER },
		);
		const metrics = parseMetrics(body);
		expect(metrics.value("elastic_run_round")).toBe(2);
		expect(metrics.value("elastic_run_nodes")).toBe(1);
		expect(metrics.value("elastic_run_incidents_total")).toBe(0);
		expect(metrics.value("elastic_run_store_latency_seconds")).toBeGreaterThan(
			0,
		);
		cluster.succeed(2);
		await cluster.ends({ "node-a": 0 });
	});
});
