import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll, etcdPut } from "../helpers/etcd.js";
import { LaunchSite } from "../helpers/launch.js";
import { isAlive, temporaryFolder } from "../helpers/processes.js";

const etcd = etcdForAll();
const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;

/** No processor is as fast as those of these two nodes. */
async function putFastNodes({ store }: Cluster): Promise<void> {
	const speeds = { processor: 1e9, memory: 1, disk: 0 };
	for (const nodeId of ["fast-1", "fast-2"]) {
		const about = { nodeId, verdict: "passed", findings: [] };
		const record = { version: 1, ...about, at: 1, tookMs: 1, speeds };
		const key = store.keys.preflightOf(nodeId);
		await etcdPut(etcd(), key, JSON.stringify(record));
	}
}

describe("a preflight", { concurrent: true }, () => {
	it("D11 that fails keeps the node out, and status shows its verdict beside a slow node that quick warns of and lets in", async (context) => {
		const options = { nodes: "1:2", conf: { last_call_timeout: 0 } };
		const cluster = new Cluster(etcd(), options, context);
		await putFastNodes(cluster);
		const good = "--preflight-command=echo GPU $ELASTIC_RUN_NODE_ID fine";
		cluster.agent("node-a", { flags: [good, "--preflight", "quick"] });
		await cluster.world(1, "node-a");
		const said = cluster.launchOf("node-a").output.stderr;
		expect(said).toContain("preflight: GPU node-a fine");
		expect(said).toContain("preflight: the processor is slow");
		const bad = "--preflight-command=echo broken >&2; exit 3";
		cluster.agent("node-b", { flags: [bad] });
		const { "node-b": out } = await cluster.ends({ "node-b": 75 });
		expect(out?.stderr).toContain("preflight: broken");
		expect(out?.stderr).toMatch(
			/does not join, its preflight failed: .*exit code 3/,
		);
		const at = ["--rdzv-endpoint", etcd().endpoint, "--output", "json"];
		const { runId } = cluster.store;
		const { stdout } = await runCli(["status", runId, ...at], { cwd });
		const preflights: unknown = JSON.parse(stdout).preflights;
		expect(preflights).toMatchObject([
			{ nodeId: "fast-1" },
			{ nodeId: "fast-2" },
			{
				...{ nodeId: "node-a", verdict: "warned" },
				findings: [expect.stringContaining("the processor is slow")],
			},
			{ nodeId: "node-b", verdict: "failed" },
		]);
		cluster.succeed(1);
		await cluster.ends({ "node-a": 0 });
	});

	it("D11 strict: a node much slower than two others does not join", async (context) => {
		const cluster = new Cluster(etcd(), { nodes: "1" }, context);
		await putFastNodes(cluster);
		cluster.agent("node-a", { flags: ["--preflight", "strict"] });
		const { "node-a": out } = await cluster.ends({ "node-a": 75 });
		expect(out?.stderr).toContain("the processor is slow");
		expect(await cluster.store.round()).toBeUndefined();
	});
});

test("D11 one that hangs is ended with all its processes", async () => {
	writeFileSync(
		join(cwd, "hangs.sh"),
		"sleep 1000 & echo child $!\necho self $$\nwait\n",
	);
	const command = "--preflight-command=sh hangs.sh";
	const args = [command, "--preflight-timeout", "300ms", "true"];
	const { exitCode, stderr } = await runCli(args, { cwd });
	expect(exitCode).toBe(75);
	expect(stderr).toContain("not done after 0.3 s, and killed");
	for (const who of ["child", "self"]) {
		const pid = new RegExp(`preflight: ${who} (\\d+)`).exec(stderr)?.[1];
		expect(isAlive(Number(pid)), `${who} ${pid}`).toBe(false);
	}
});

test("D11 a stop signal during it works at once", async () => {
	const site = new LaunchSite();
	try {
		const launch = site.launch(["--preflight-command=sleep 1000", "true"]);
		await launch.saw("stderr", "preflight: sh -c");
		launch.signal("SIGTERM");
		expect((await launch.ended).exitCode).toBe(143);
		await site.isSwept();
	} finally {
		await site.close();
	}
});
