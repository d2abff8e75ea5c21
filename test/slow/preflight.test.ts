import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { isAlive, temporaryFolder } from "../helpers/processes.js";

const etcd = etcdForAll();
const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;

it("D11 a preflight that fails keeps the node out, and status shows its verdict beside that of a node that was let in", async () => {
	const options = { nodes: "1:2", conf: { last_call_timeout: 0 } };
	const cluster = new Cluster(etcd(), options);
	const good = "--preflight-command=echo GPU $ELASTIC_RUN_NODE_ID fine";
	cluster.agent("node-a", { flags: [good] });
	await cluster.world(1, "node-a");
	const said = cluster.launchOf("node-a").output.stderr;
	expect(said).toContain("preflight: GPU node-a fine");
	expect(said).toContain("preflight: passed in ");
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
	expect(JSON.parse(stdout).preflights).toMatchObject([
		{ nodeId: "node-a", verdict: "passed", findings: [] },
		{ nodeId: "node-b", verdict: "failed" },
	]);
	cluster.succeed(1);
	await cluster.ends({ "node-a": 0 });
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
