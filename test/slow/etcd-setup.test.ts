import { statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { etcdForAll, etcdPut, startEtcd } from "../helpers/etcd.js";
import { temporaryFolder } from "../helpers/processes.js";

const ROOT = { user: "root", password: "root-password" };
const etcd = etcdForAll({ auth: { user: "other", password: "secret" } });
const folder = temporaryFolder();
afterAll(() => folder.remove());
const cwd = folder.path;

test("J20 etcd-setup prints what makes a user for one run", async () => {
	const args = ["etcd-setup", "night-1", "--rdzv-endpoint", "etcd1:2379"];
	const { exitCode, stdout } = await runCli([...args, "--user", "train"], {
		cwd,
	});
	expect(exitCode).toBe(0);
	const etcdctl = "etcdctl --endpoints=etcd1:2379";
	expect(stdout.split("\n").filter((line) => /^etcdctl/.test(line))).toEqual([
		`${etcdctl} role add elastic-run-night-1`,
		`${etcdctl} role grant-permission elastic-run-night-1 --prefix=true readwrite /elastic-run/night-1/`,
		`${etcdctl} user add train`,
		`${etcdctl} user grant-role train elastic-run-night-1`,
	]);
});

test("J20 with --apply it makes the user, who runs the run and reads no other; again it changes nothing", async () => {
	const { endpoint } = etcd();
	const env = {
		PATH: process.env.PATH ?? "",
		ELASTIC_RUN_RDZV_ENDPOINT: endpoint,
		ELASTIC_RUN_RDZV_USERNAME: ROOT.user,
		ELASTIC_RUN_RDZV_PASSWORD: ROOT.password,
	};
	const apply = ["etcd-setup", "night-2", "--apply"];
	const made = await runCli([...apply, "--password-file", "pw"], { cwd, env });
	expect(made).toMatchObject({ exitCode: 0, stderr: "" });
	expect(made.stdout).toContain("user elastic-run-night-2: made");
	expect(statSync(join(cwd, "pw")).mode & 0o777).toBe(0o600);
	const again = await runCli([...apply, "--password-file", "pw"], { cwd, env });
	expect(again.exitCode).toBe(0);
	expect(again.stdout).toContain("user elastic-run-night-2: was there");

	const login = "username=elastic-run-night-2,password_file=pw";
	const conf = ["--rdzv-endpoint", endpoint, "--rdzv-conf", login];
	const script = ["sh", "-c", "exit 9"];
	const flags = [
		"--nnodes",
		"1:2",
		"--rdzv-conf",
		`${login},last_call_timeout=0`,
	];
	const rule = ["--rule", "exit=9 => replace-node", "--node-id", "a"];
	const run = (runId: string) =>
		runCli(
			[
				"--rdzv-endpoint",
				endpoint,
				"--run-id",
				runId,
				...flags,
				...rule,
				...script,
			],
			{ cwd },
		);
	expect((await run("night-2")).exitCode).toBe(75);
	expect((await run("night-3")).exitCode).toBe(4);
	const nodes = await runCli(["nodes", "night-2", ...conf], { cwd });
	expect(nodes.stdout).toMatch(/^a +replaced /m);
	await etcdPut(etcd(), "/elastic-run/other/round", "x");
	const other = await runCli(["nodes", "other", ...conf], { cwd });
	expect(other.exitCode).toBe(4);
});

test("J20 without root's login it says what etcd refuses", async () => {
	const at = ["--rdzv-endpoint", etcd().endpoint, "--password-file", "pw"];
	const args = ["etcd-setup", "night-4", "--apply", ...at];
	const { exitCode, stderr } = await runCli(args, { cwd });
	expect(exitCode).toBe(4);
	expect(stderr).toMatch(/etcd refuses role elastic-run-night-4: /);
});

test("J20 where authentication is off it says so", async () => {
	const { endpoint } = await startEtcd();
	const at = ["--rdzv-endpoint", endpoint, "--password-file", "pw"];
	const args = ["etcd-setup", "night-5", "--apply", ...at];
	const { exitCode, stdout } = await runCli(args, { cwd });
	expect(exitCode).toBe(0);
	expect(stdout).toContain("etcd's authentication is off: ");
});
