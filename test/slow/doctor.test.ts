// What each check judges is a table in test/unit/operate/doctor.test.ts.
import { mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Finding } from "../../src/operate/doctor/checks.js";
import { etcdForAll, etcdRange, leases } from "../helpers/etcd.js";
import { freePort } from "../helpers/free-port.js";
import { type LaunchOptions, openSite } from "../helpers/launch.js";
import { sideBySide } from "../helpers/this-test.js";

interface Answer {
	readonly ok: boolean;
	readonly checks: readonly Finding[];
}

/** What the doctor says of a new site. */
async function ask(options: LaunchOptions = {}, site = openSite()) {
	const line = ["doctor", "--output", "json"];
	const { exitCode, stdout } = await site.launch(line, options).ended;
	const answer: Answer = JSON.parse(stdout);
	const of = (name: string) =>
		answer.checks.find(({ check }) => check === name);
	return { exitCode, answer, of };
}

describe("the doctor at an etcd", () => {
	const etcd = etcdForAll({
		auth: { user: "ann", password: "secret", prefix: "/elastic-run/hers/" },
	});
	const asAnn = (env = {}) => ({
		env: {
			ELASTIC_RUN_RDZV_ENDPOINT: etcd().endpoint,
			ELASTIC_RUN_RDZV_USERNAME: "ann",
			ELASTIC_RUN_RDZV_PASSWORD: "secret",
			...env,
		},
	});

	it("says its version, and leaves nothing behind", async () => {
		const { of } = await ask(asAnn({ ELASTIC_RUN_RUN_ID: "hers" }));
		expect(of("etcd")?.message).toMatch(
			/^127\.0\.0\.1:\d+ runs \d+\.\d+\.\d+.*, \/elastic-run\/hers\/ can be read and written/,
		);
		expect(await etcdRange(etcd(), "")).toEqual([]);
		expect(await leases(etcd())).toEqual([]);
	});

	it("J20 finds keys that its user may not write", async () => {
		const { exitCode, of } = await ask(asAnn());
		expect(of("etcd")).toMatchObject({ status: "problem" });
		expect(exitCode).toBe(1);
	});

	it("finds that nobody is there", async () => {
		const endpoint = `127.0.0.1:${await freePort()}`;
		const env = { ELASTIC_RUN_RDZV_ENDPOINT: endpoint };
		const { exitCode, of } = await ask({ env });
		expect(of("etcd")).toMatchObject({ status: "problem" });
		expect(of("etcd")?.message).toContain(endpoint);
		expect(exitCode).toBe(1);
	});
});

describe("the doctor", { concurrent: true }, () => {
	sideBySide();

	it("says one line a check and leaves nothing behind", async () => {
		const site = openSite();
		const { ended } = site.launch(["doctor", "--nproc-per-node", "2"]);
		const { stdout, stderr, exitCode } = await ended;
		const lines = stdout.trimEnd().split("\n");
		expect(lines).toHaveLength(7);
		for (const line of lines)
			expect(line).toMatch(/^(ok|warning|problem) +[^:]+: ./);
		expect(stderr).toBe("");
		const isBad = lines.some((line) => line.startsWith("problem"));
		expect(exitCode).toBe(isBad ? 1 : 0);
		expect(readdirSync(site.channels)).toEqual([]);
		expect(readdirSync(site.temporary)).toEqual([]);
	});

	it("prints one object with --output json, and does not miss an etcd that was not named", async () => {
		const { exitCode, answer, of } = await ask();
		expect(of("etcd")).toEqual({
			check: "etcd",
			status: "ok",
			message: "none was named; a run of one machine needs none",
		});
		expect(answer.ok).toBe(exitCode === 0);
		expect(answer.checks.map(({ check }) => check)).toEqual([
			...["open files", "processes", "setpriv", "guard", "Python", "etcd"],
			"links",
		]);
	});

	it("finds too few files for the workers, no tools for the guard, and no Python", async () => {
		const site = openSite();
		const bin = join(site.path, "bin");
		mkdirSync(bin);
		writeFileSync(join(bin, "grep"), "", { mode: 0o755 });
		const limited = 'ulimit -n 200 && exec "$@"';
		const env = { PATH: bin, ELASTIC_RUN_NPROC_PER_NODE: "256" };
		const through = ["/bin/sh", "-c", limited, "sh"];
		const { exitCode, of } = await ask({ env, through }, site);
		expect(exitCode).toBe(1);
		expect(of("open files")?.message).toContain("200 may be open");
		expect(of("guard")?.message).toContain("not on PATH: sleep, rm, tr");
		expect(of("Python")?.message).toContain("none");
	});
});
