import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { CLI } from "../helpers/cli.js";
import { job, openSite } from "../helpers/launch.js";

it("a worker gets torchrun's environment, elastic-run's own and its user's, and none of the launcher's settings", async () => {
	const site = openSite();
	const passwordFile = join(site.path, "password");
	writeFileSync(passwordFile, "secret\n");
	const launch = site.launch(
		[
			...["--nproc-per-node", "2", "--run-id", "train", "--role", "trainer"],
			job("exits-with.js"),
		],
		{
			env: {
				ELASTIC_RUN_MAX_RESTARTS: "5",
				ELASTIC_RUN_RDZV_CONF: `username=me,password_file=${passwordFile}`,
				ELASTIC_RUN_ANYTHING: "secret",
				PYTHONUNBUFFERED: "",
				MY_OWN: "kept",
			},
		},
	);
	expect((await launch.ended).exitCode).toBe(0);
	const [first, second] = site.workers();
	expect(second?.env).toMatchObject({
		RANK: "1",
		LOCAL_RANK: "1",
		GROUP_RANK: "0",
		ROLE_RANK: "1",
		ROLE_NAME: "trainer",
		WORLD_SIZE: "2",
		LOCAL_WORLD_SIZE: "2",
		GROUP_WORLD_SIZE: "1",
		ROLE_WORLD_SIZE: "2",
		MASTER_ADDR: first?.env.MASTER_ADDR,
		MASTER_PORT: expect.stringMatching(/^\d+$/),
		TORCHELASTIC_RESTART_COUNT: "0",
		TORCHELASTIC_MAX_RESTARTS: "5",
		TORCHELASTIC_RUN_ID: "train",
		TORCHELASTIC_ERROR_FILE: expect.stringMatching(
			/\/round-1\/1\/error\.json$/,
		),
		TORCHELASTIC_USE_AGENT_STORE: "False",
		OMP_NUM_THREADS: "1",
		PYTHONUNBUFFERED: "",
		PYTHONFAULTHANDLER: "1",
		TQDM_MININTERVAL: "5",
		MY_OWN: "kept",
		ELASTIC_RUN_CHANNEL: expect.stringContaining(
			`${site.channels}/elastic-run-`,
		),
		ELASTIC_RUN_INSTANCE: first?.env.ELASTIC_RUN_INSTANCE,
		ELASTIC_RUN_ROUND: "1",
		ELASTIC_RUN_RUN_ID: "train",
		ELASTIC_RUN_NODE_ID: "node-a",
		ELASTIC_RUN_INCARNATION: second?.env.ELASTIC_RUN_INCARNATION,
	});
	const own = Object.keys(second?.env ?? {}).filter((name) =>
		name.startsWith("ELASTIC_RUN_"),
	);
	expect(own.sort()).toEqual([
		"ELASTIC_RUN_CHANNEL",
		"ELASTIC_RUN_HOOK",
		"ELASTIC_RUN_INCARNATION",
		"ELASTIC_RUN_INSTANCE",
		"ELASTIC_RUN_NODE_ID",
		"ELASTIC_RUN_ROUND",
		"ELASTIC_RUN_RUN_ID",
	]);
	expect(second?.env.MASTER_PORT).toBe(first?.env.MASTER_PORT);
	expect(second?.env.ELASTIC_RUN_CHANNEL).not.toBe(
		first?.env.ELASTIC_RUN_CHANNEL,
	);
});

it("T3 a launcher inside a worker is a run of its own: the runtime library tells its workers their place", async () => {
	const site = openSite();
	const launch = site.launch([
		...["--run-id", "outer", "--max-restarts", "0", "--no-node"],
		...[process.execPath, CLI, "--nproc-per-node", "2", "--log-dir", site.logs],
		...["--node-id", "inner-node", job("asks-runtime.js")],
	]);
	const { exitCode, stderr } = await launch.ended;
	expect(exitCode, stderr).toBe(0);
	const workers = site.workers();
	expect(workers).toHaveLength(2);
	for (const { env, extra } of workers) {
		expect(extra).toMatchObject({
			info: {
				rank: Number(env.RANK),
				worldSize: 2,
				masterPort: Number(env.MASTER_PORT),
				runId: env.ELASTIC_RUN_RUN_ID,
				round: 1,
			},
			event: { sequence: 1 },
		});
		expect(env.ELASTIC_RUN_RUN_ID).toMatch(/^asks-runtime/);
		expect(env.ELASTIC_RUN_NODE_ID).toBe("inner-node");
		expect(env.WORLD_SIZE).toBe("2");
	}
	await site.isSwept();
});

it("the launcher's own environment keeps no credentials, so that a policy's module sees none", async () => {
	const site = openSite();
	const seen = join(site.path, "seen.json");
	const policy = join(site.path, "policy.mjs");
	writeFileSync(
		policy,
		`import { writeFileSync } from "node:fs";
const decide = () => ({ workers: "restart", charge: "run", reason: "restart" });
export default { name: "curious", onScaleUp: decide, onScaleDown: decide, onWorkerFailure: decide };
writeFileSync(${JSON.stringify(seen)}, JSON.stringify(process.env));
`,
	);
	const token = "0123456789abcdefghij";
	const launch = site.launch(
		[
			...["--restart-policy", policy, "--http", "127.0.0.1:0"],
			job("exits-with.js"),
		],
		{
			env: {
				ELASTIC_RUN_HTTP_TOKEN: token,
				ELASTIC_RUN_RDZV_USERNAME: "me",
				ELASTIC_RUN_RDZV_PASSWORD: "hunter2",
				KEPT: "yes",
			},
		},
	);
	expect((await launch.ended).exitCode).toBe(0);
	const variables: unknown = JSON.parse(readFileSync(seen, "utf8"));
	expect(variables).toMatchObject({ KEPT: "yes" });
	expect(JSON.stringify(variables)).not.toMatch(/hunter2|0123456789abc/);
	expect(variables).not.toHaveProperty("ELASTIC_RUN_RDZV_USERNAME");
});
