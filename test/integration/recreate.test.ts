import { afterAll, describe, expect, it, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { tell } from "../helpers/obedient-worker.js";
import { temporaryFolder } from "../helpers/processes.js";

const etcd = etcdForAll();
const folder = temporaryFolder();
afterAll(() => folder.remove());

const RECREATE = ["--restart-strategy", "recreate", "--max-restarts", "1"];

describe("--restart-strategy recreate", { concurrent: true }, () => {
	it("J13 J15 with one agent: it ends with the chosen code, the next goes on with its budget and its workers' port", async (context) => {
		const flags = [...RECREATE, "--exit-code-restart", "86"];
		const port = String(await freePort());
		const worker = ["obeys.js", "at", port] as const;
		const cluster = new Cluster(etcd(), { nodes: "1", flags, worker }, context);
		await cluster.form("node-a");
		tell(cluster.worker(1, 0), 9);
		const { "node-a": end } = await cluster.ends({ "node-a": 86 });
		expect(end?.stderr).toContain("to be started again for round 2");
		cluster.agent("node-a");
		const [worker2] = await cluster.world(2, "node-a");
		expect(worker2?.env.TORCHELASTIC_RESTART_COUNT).toBe("1");
		tell(cluster.worker(2, 0), 9);
		const ends = await cluster.ends({ "node-a": 1 });
		expect(ends["node-a"]?.stderr).toContain("budget of 1 restart is spent");
	});

	it("J13 J14 with two agents: both end, keep their ranks, and one incident costs one restart", async (context) => {
		const cluster = new Cluster(
			etcd(),
			{ nodes: "2", flags: RECREATE },
			context,
		);
		const [first, second] = await cluster.form("node-a", "node-b");
		tell(cluster.worker(1, 1), 7);
		await cluster.ends({ [first]: 76, [second]: 76 });
		cluster.agent(second);
		await cluster.store.sawNode(second, "ready");
		cluster.agent(first);
		await cluster.world(2, first, second);
		cluster.succeed(2);
		await cluster.ends({ [first]: 0, [second]: 0 });
		expect(await cluster.store.round()).toMatchObject({ charged: 1 });
	});
});

test("J15 codes of one's own, and the root cause's", async () => {
	const { path: cwd } = folder;
	const run = (...args: string[]) => runCli(args, { cwd });
	const rule = ["--rule", "* => replace-node", "--exit-code-replace", "85"];
	const fail = ["sh", "-c", "exit 42"];
	expect((await run(...rule, ...fail)).exitCode).toBe(85);
	const own = ["--propagate-exit-code", "--max-restarts", "0"];
	expect((await run(...own, ...fail)).exitCode).toBe(42);
	const refused = await run(...RECREATE, "--exit-code-restart", "75", ...fail);
	expect(refused.exitCode).toBe(2);
	expect(refused.stderr).toMatch(/recreate: without etcd the run's state/);
	expect(refused.stderr).toMatch(/two different codes/);
});
