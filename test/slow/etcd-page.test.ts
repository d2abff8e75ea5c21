import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { runCli } from "../helpers/cli.js";
import { startEtcd } from "../helpers/etcd.js";
import { pathWithEtcdctl } from "../helpers/etcdctl.js";
import { temporaryFolder } from "../helpers/processes.js";
import { onTestFinished } from "../helpers/this-test.js";

const PAGE = new URL("../../docs/etcd.md", import.meta.url);
const ENDPOINTS = "etcd1:2379,etcd2:2379,etcd3:2379";
const LAUNCH = "elastic-run ";

/** The shell's lines of the page's section on users. */
function linesOfPage(): readonly string[] {
	const [, section = ""] = readFileSync(PAGE, "utf8").split(
		"### A user for one run\n",
	);
	const [own = ""] = section.split(/^## /m);
	const blocks = own.matchAll(/^```sh\n(.*?)^```$/gms);
	return [...blocks].flatMap(([, text = ""]) => text.trim().split("\n"));
}

test("J20 the lines of docs/etcd.md make a user, who runs the run and reads no other", async (context) => {
	const { path: cwd, remove } = temporaryFolder();
	onTestFinished(remove);
	const etcd = await startEtcd();
	const PATH = pathWithEtcdctl();
	if (PATH === undefined) context.skip("there is no etcdctl");
	for (const name of ["root", "train"]) {
		const file = join(cwd, `${name}.password`);
		writeFileSync(file, `secret-of-${name}\n`, { mode: 0o600 });
	}
	const lines = linesOfPage();
	const script = lines
		.filter((line) => !line.startsWith(LAUNCH))
		.join("\n")
		.replace(ENDPOINTS, etcd.endpoint);
	await promisify(execFile)("sh", ["-ec", script], { cwd, env: { PATH } });

	const launches = lines.filter((line) => line.startsWith(LAUNCH));
	expect(launches).toHaveLength(1);
	const [, ...args] = (launches[0] ?? "")
		.replace("train.py", "sh once.sh")
		.split(" ");
	// Its first life fails after a step: the run charges, tells, and starts again.
	writeFileSync(
		join(cwd, "once.sh"),
		"echo step=1; test -e once || { touch once; exit 3; }\n",
	);
	const env = { ELASTIC_RUN_RDZV_ENDPOINT: etcd.endpoint };
	const { exitCode, stderr } = await runCli(args, { cwd, env });
	expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
	expect(stderr).not.toMatch(/may not read|permission/);

	const login = args.slice(args.indexOf("--rdzv-conf"), -2);
	const clean = ["clean", "--older-than", "0", "--yes", ...login];
	for (const refused of [[...login, "--run-id", "night-2", "true"], clean]) {
		const { exitCode, stderr } = await runCli(refused, { cwd, env });
		expect(exitCode).toBe(4);
		expect(stderr).toContain("may not read and write these keys");
	}
	const cleaned = await runCli([...clean, "night-1"], { cwd, env });
	expect(cleaned.exitCode).toBe(0);
	expect(cleaned.stdout).toMatch(/^run .*removed +night-1/m);
});
