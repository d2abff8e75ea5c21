import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/operate/doctor/checks.js";
import { cliHost } from "../helpers/cli-host.js";
import { etcdForAll, etcdRange, leases } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { openSite } from "../helpers/launch.js";
import { sideBySide } from "../helpers/this-test.js";

const JSON_OUTPUT = ["doctor", "--output", "json"];

interface Answer {
	readonly ok: boolean;
	readonly checks: readonly Finding[];
}

/** What the doctor says of a site. */
async function ask(
	site: ReturnType<typeof openSite>,
	options: Parameters<typeof site.launch>[1] = {},
): Promise<{
	exitCode: number | null;
	answer: Answer;
	of: (check: string) => Finding | undefined;
}> {
	const { exitCode, stdout } = await site.launch(JSON_OUTPUT, options).ended;
	const answer: Answer = JSON.parse(stdout);
	const of = (name: string) =>
		answer.checks.find(({ check }) => check === name);
	return { exitCode, answer, of };
}

describe("the doctor at an etcd", () => {
	const PASSWORD = "correct-horse-battery";
	const etcd = etcdForAll({
		auth: { user: "ann", password: PASSWORD, prefix: "/elastic-run/hers/" },
	});
	const login = {
		ELASTIC_RUN_RDZV_USERNAME: "ann",
		ELASTIC_RUN_RDZV_PASSWORD: PASSWORD,
	};
	const asAnn = (env = {}) => ({
		env: { ELASTIC_RUN_RDZV_ENDPOINT: etcd().endpoint, ...login, ...env },
	});

	it("says its version, and leaves nothing behind", async () => {
		const site = openSite();
		const { of } = await ask(site, asAnn({ ELASTIC_RUN_RUN_ID: "hers" }));
		expect(of("etcd")?.message).toMatch(
			/^127\.0\.0\.1:\d+ runs \d+\.\d+\.\d+.*, \/elastic-run\/hers\/ can be read and written/,
		);
		expect(await etcdRange(etcd(), "")).toEqual([]);
		expect(await leases(etcd())).toEqual([]);
	});

	it("J20 finds keys that its user may not write", async () => {
		const { exitCode, of } = await ask(openSite(), asAnn());
		expect(of("etcd")).toMatchObject({ status: "problem" });
		expect(exitCode).toBe(1);
	});

	it("finds that nobody is there", async () => {
		const endpoint = `127.0.0.1:${await freePort()}`;
		const { exitCode, of } = await ask(openSite(), {
			env: { ELASTIC_RUN_RDZV_ENDPOINT: endpoint },
		});
		expect(of("etcd")).toMatchObject({ status: "problem" });
		expect(of("etcd")?.message).toContain(endpoint);
		expect(exitCode).toBe(1);
	});
});

describe("doctor", { concurrent: true }, () => {
	sideBySide();

	const runLine = cliHost();

	it("says one line a check and leaves nothing behind", async () => {
		const site = openSite();
		const { ended } = site.launch(["doctor", "--nproc-per-node", "2"]);
		const { stdout, stderr, exitCode } = await ended;
		const lines = stdout.trimEnd().split("\n");
		expect(lines).toHaveLength(6);
		for (const line of lines)
			expect(line).toMatch(/^(ok|warning|problem) +[^:]+: ./);
		expect(stderr).toBe("");
		expect(exitCode).toBe(
			lines.some((line) => line.startsWith("problem")) ? 1 : 0,
		);
		expect(readdirSync(site.channels)).toEqual([]);
		expect(readdirSync(site.temporary)).toEqual([]);
	});

	it("prints one object with --output json, and does not miss an etcd that was not named", async () => {
		const { exitCode, answer, of } = await ask(openSite());
		expect(of("etcd")).toEqual({
			check: "etcd",
			status: "ok",
			message: "none was named; a run of one machine needs none",
		});
		expect(answer.ok).toBe(exitCode === 0);
		expect(answer.checks.map(({ check }) => check)).toEqual([
			"open files",
			"processes",
			"setpriv",
			"guard",
			"Python",
			"etcd",
		]);
	});

	it("finds what the guard and setpriv lack, and no Python", async () => {
		const site = openSite();
		const bin = join(site.path, "bin");
		mkdirSync(bin);
		writeFileSync(join(bin, "grep"), "", { mode: 0o755 });
		const { exitCode, of } = await ask(site, { env: { PATH: bin } });
		expect(exitCode).toBe(1);
		expect(of("setpriv")?.status).toBe(
			process.platform === "linux" ? "warning" : "ok",
		);
		expect(of("guard")?.message).toContain("not on PATH: sleep, rm, tr");
		expect(of("Python")?.message).toContain("none");
	});

	it("finds too few files for the workers", async () => {
		const site = openSite();
		const through = ["sh", "-c", 'ulimit -n 200 && exec "$@"', "sh"];
		const { ended } = site.launch(["doctor", "--nproc-per-node", "256"], {
			through,
		});
		const { exitCode, stdout } = await ended;
		expect(exitCode).toBe(1);
		expect(stdout).toContain("problem  open files: 200 may be open");
	});

	it.for([
		[["--nproc"], "unknown option --nproc; did you mean --nproc-per-node?"],
		[["--output", "xml"], '--output: "xml" is unknown; use text or json'],
		[["--nproc-per-node", "0"], '--nproc-per-node: "0" is not valid'],
		[["train.js"], "doctor: it takes flags only; leave out train.js (see"],
		[["--rdzv-endpoint", "h"], '--rdzv-endpoint: "h": port missing'],
	] as const)("refuses %j", async ([args, words]) => {
		const site = openSite();
		const { exitCode, stdout, stderr } = await runLine(["doctor", ...args], {
			cwd: site.path,
			env: site.environment,
		});
		expect([exitCode, stdout]).toEqual([2, ""]);
		expect(stderr).toContain(words);
	});

	it("is a script where it is written as one", async () => {
		const site = openSite();
		writeFileSync(join(site.path, "doctor"), "#!/bin/sh\necho a script\n", {
			mode: 0o755,
		});
		const { stdout } = await site.launch(["./doctor"]).ended;
		expect(stdout).toContain("a script");
	});
});
