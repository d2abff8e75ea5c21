import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runCli } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { tell } from "../helpers/obedient-worker.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();

describe("a node that is replaced", { concurrent: true }, () => {
	it("D8 J12 by a rule: it is refused until it is readmitted; the command runs once, though its coordinator dies", async (context) => {
		const rule = ["--rule", "exit=9 => replace-node", "--max-restarts", "0"];
		const cluster = new Cluster(etcd(), { nodes: "1:2", flags: rule }, context);
		const told = join(cluster.site.path, "told");
		const done = join(cluster.site.path, "done");
		const command = `cat >> ${told}; echo said; sleep 2; echo x >> ${done}`;
		const flags = ["--replace-node-command", command];
		for (const nodeId of ["node-a", "node-b"]) cluster.agent(nodeId, { flags });
		const [first, second] = await cluster.form("node-a", "node-b");
		const rank = { [first]: 0, [second]: 1 };
		const coordinator = (await cluster.store.coordinator()) ?? "";
		const other = coordinator === first ? second : first;
		tell(cluster.worker(1, rank[other] ?? 0), 9);
		const { [other]: out } = await cluster.ends({ [other]: 75 });
		expect(out?.stderr).toContain("decided by rule 1 (exit=9 => replace-node)");
		await waitFor("the command's input", () => existsSync(told));
		// Before the next round, the end of the coordinator's process would explain the failure.
		await cluster.newestWorld(coordinator);
		await cluster.vanish(coordinator);
		cluster.agent(coordinator, { flags });
		await cluster.newestWorld(coordinator);

		cluster.agent(other, { flags });
		const { [other]: refused } = await cluster.ends({ [other]: 75 });
		expect(refused?.stderr).toContain(
			`elastic-run readmit ${other} lets it in`,
		);
		await waitFor("the command's end", () => existsSync(done));
		const record = JSON.parse(readFileSync(told, "utf8"));
		const { runId } = cluster.store;
		expect(record).toMatchObject({
			runId,
			nodeId: other,
			address: "127.0.0.1",
		});
		expect(readFileSync(done, "utf8")).toBe("x\n");

		const { path: cwd } = cluster.site;
		const at = ["--rdzv-endpoint", etcd().endpoint];
		const json = [...at, "--output", "json"];
		const nodes = await runCli(["nodes", runId, ...json], { cwd });
		const accounts: readonly { nodeId: string }[] = JSON.parse(
			nodes.stdout,
		).nodes;
		expect(accounts.find(({ nodeId }) => nodeId === other)).toMatchObject({
			...{ part: "replaced", failures: 1, restarts: { used: 0 } },
			lastFailure: { exitCode: 9 },
			replaced: { caredForBy: coordinator, replacement: null },
		});
		const readmit = await runCli(["readmit", other, runId, ...at], { cwd });
		expect(readmit).toMatchObject({ exitCode: 0 });
		expect(
			await runCli(["readmit", other, "--run-id", runId, ...at], { cwd }),
		).toMatchObject({ exitCode: 1 });
		cluster.agent(other, { flags });
		await cluster.newestWorld(coordinator, other);
		await cluster.stop();
	});

	it("D1 D2 D8 over --max-node-restarts: it leaves with 75, a spare takes its place, and the run has paid for the first failure only", async (context) => {
		const flags = ["--max-node-restarts", "1", "--max-restarts", "5"];
		const cluster = new Cluster(etcd(), { nodes: "2", flags }, context);
		const [first, second] = await cluster.form("own-a", "own-b");
		cluster.agent("own-c");
		await cluster.store.sawNode("own-c", "ready");
		tell(cluster.worker(1, 1), 9);
		const members = await cluster.store.sawMembers(2);
		expect([...members].sort()).toEqual(["own-a", "own-b"]);
		await cluster.world(2, ...members);
		const at = ["--rdzv-endpoint", etcd().endpoint, "--output", "json"];
		const { runId } = cluster.store;
		const restarts = async (...path: readonly string[]) => {
			const { path: cwd } = cluster.site;
			const asked = await runCli([...path, runId, ...at], { cwd });
			return JSON.parse(asked.stdout);
		};
		expect(await restarts("status")).toMatchObject({
			restarts: { allowed: 5, used: 1 },
			nodes: expect.arrayContaining([
				expect.objectContaining({
					nodeId: second,
					restarts: { allowed: 1, used: 1, left: 0 },
				}),
			]),
		});

		tell(cluster.worker(2, members.indexOf(second)), 9);
		const { [second]: out } = await cluster.ends({ [second]: 75 });
		expect(out?.stderr).toContain("than its limit of 1 restart allows");
		expect(out?.stderr).toMatch(/^restarts: 1 of 5 used(?!.* 1 left)/m);
		await cluster.newestWorld(first, "own-c");
		expect(await restarts("status")).toMatchObject({ restarts: { used: 1 } });
		const { nodes } = await restarts("nodes");
		expect(nodes).toContainEqual(
			expect.objectContaining({
				nodeId: second,
				part: "replaced",
				replaced: expect.objectContaining({ replacement: "own-c" }),
			}),
		);
		await cluster.stop();
	});
});
