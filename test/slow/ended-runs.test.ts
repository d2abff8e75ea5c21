import {
	existsSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	rmSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { cliHost } from "../helpers/cli-host.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();
const NOWHERE = "127.0.0.1:1";
const MEMORY = ["--rdzv-backend", "memory"];
const WEEK_MS = 7 * 24 * 3_600_000;

const recordsOf = (site: LaunchSite) =>
	join(site.path, ".local/state/elastic-run");

const run = (site: LaunchSite, ...args: string[]) => site.launch(args).ended;

const runLine = cliHost();

/** What a command of this machine's says of its runs. */
const ask = (
	site: LaunchSite,
	args: readonly string[],
	env: Readonly<Record<string, string>> = {},
) =>
	runLine(args, {
		cwd: site.path,
		env: {
			...site.environment,
			XDG_STATE_HOME: join(site.path, ".local/state"),
			...env,
		},
	});

describe("a run of this machine that has ended", () => {
	it("is one of the ten that status lists, or is counted", async () => {
		const site = openSite();
		await run(site, "--run-id", "run-number-0", job("prints.sh"), "1");
		const records = recordsOf(site);
		const [first = ""] = readdirSync(records);
		const text = readFileSync(join(records, first), "utf8");
		for (let number = 1; number <= 11; number += 1) {
			const name = `run-number-${number}`;
			writeFileSync(
				join(records, `${Date.now()}-${name}.json`),
				text.replaceAll("run-number-0", name),
			);
		}
		const { stdout, stderr } = await ask(site, ["status"]);
		expect(stdout.match(/^run-number-\d+ /gm)).toHaveLength(10);
		expect(stderr).toContain("2 more runs that ended within a week");
		const json = await ask(site, ["status", "--output", "json"]);
		expect(JSON.parse(json.stdout).runs).toHaveLength(12);
	});

	it("is known to status, history and logs, without a store", async () => {
		const site = openSite();
		const failed = ["--run-id", "early", "--max-restarts", "1"];
		await run(site, ...failed, job("exits-with.sh"), "0:7");
		await run(site, "--run-id", "late", job("prints.sh"), "1");
		await site.isSwept();
		const early = await ask(site, ["status", "early"]);
		expect(early.stdout).toContain("run early: ended, round 2");
		expect(early.stdout).toContain("  failed, exit code 1: ");
		const history = await ask(site, ["history", "early", "--output", "json"]);
		expect(JSON.parse(history.stdout)).toMatchObject({
			runId: "early",
			place: expect.stringContaining(recordsOf(site)),
		});
		expect(history.exitCode).toBe(0);
		for (const word of ["history", "goodput", "nodes"]) {
			const last = await ask(site, [word]);
			expect([word, last.exitCode]).toEqual([word, 0]);
			expect(last.stdout).toMatch(/^run late\b/);
		}
		const all = await ask(site, ["status"]);
		expect(all.stdout).toMatch(
			/^late +succeeded .* ended here\n(.*\n)*early +failed .* ended here$/m,
		);
		const nameless = { ELASTIC_RUN_LOG_DIR: "" };
		const logs = await ask(site, ["logs", "early"], nameless);
		expect(logs.stdout).toContain("rank 0 gives up");
	});

	it("C7 is known by its end also where its launcher was killed, to status, history, goodput and logs", async () => {
		const site = openSite();
		const launch = site.launch(["--run-id", "night", job("works.js")]);
		await site.sawWorkers(1);
		await waitFor("a record", () => existsSync(recordsOf(site)));
		const alive = await ask(site, ["status"]);
		expect(alive.stdout).toMatch(/^night +running .*/m);
		expect(alive.stdout).not.toContain("ended here");
		await waitFor("the record of the round", () =>
			readdirSync(recordsOf(site)).some((name) =>
				readFileSync(join(recordsOf(site), name), "utf8").includes("worldSize"),
			),
		);
		launch.signal("SIGKILL");
		await site.isSwept();
		const all = await ask(site, ["status"]);
		expect(all.stdout).toMatch(/^night +failed .*ended here$/m);
		for (const word of ["status", "history", "goodput"]) {
			const said = await ask(site, [word, "night"]);
			expect([word, said.exitCode]).toEqual([word, 0]);
			if (word !== "goodput")
				expect(said.stdout).toContain("its launcher was killed");
		}
		const logs = await ask(site, ["logs", "night"]);
		expect(logs.exitCode).toBe(0);
		await run(site, "--run-id", "night", job("prints.sh"), "1");
		const after = await ask(site, ["status", "night"]);
		expect(after.stdout).toContain("succeeded");
	});

	it("is known when the store that it had is gone, and else as the store has it", async () => {
		const cluster = new Cluster(etcd(), { nodes: "1:2" });
		const [first, second] = await cluster.form("node-a", "node-b");
		cluster.succeed(1);
		await cluster.ends({ [first]: 0, [second]: 0 });
		const { site, store } = cluster;
		const at = (endpoint: string) =>
			ask(site, ["status", store.runId, "--rdzv-endpoint", endpoint]);
		const gone = await at(NOWHERE);
		expect(gone.exitCode).toBe(0);
		expect(gone.stdout).toContain("succeeded, exit code 0");
		const there = await at(etcd().endpoint);
		expect(there.stdout).toContain("succeeded, exit code 0");
	});

	it("is passed over where its record cannot be read, and removed by clean once a week is over", async () => {
		const site = openSite();
		const records = recordsOf(site);
		await run(site, "--run-id", "old", job("prints.sh"), "1");
		const [old = ""] = readdirSync(records);
		const text = readFileSync(join(records, old), "utf8");
		const now = Date.now();
		writeFileSync(join(records, `${now}-broken.json`), text.slice(0, -9));
		const odd = text.replace('"version":1', '"version":9');
		writeFileSync(join(records, `${now}-odd.json`), odd);
		mkdirSync(join(records, `${now}-folder.json`));
		const { stdout } = await ask(site, ["status"]);
		expect(stdout.match(/^old /gm)).toHaveLength(1);
		for (const name of readdirSync(records)) {
			const rest = name.slice(name.indexOf("-"));
			const aged = `${now - WEEK_MS - 60_000}${rest}`;
			renameSync(join(records, name), join(records, aged));
		}
		await ask(site, ["clean", "--yes"]);
		expect(readdirSync(records)).toEqual([expect.stringMatching(/-folder/)]);
	});

	it("leaves no record where none can be written, and ends as ever", async () => {
		const site = openSite();
		mkdirSync(join(site.path, ".local"));
		writeFileSync(join(site.path, ".local/state"), "");
		const launch = ["--run-id", "a", job("prints.sh"), "1"];
		const { exitCode, stderr } = await run(site, ...launch);
		expect(exitCode).toBe(0);
		expect(stderr).not.toContain("record");
		rmSync(join(site.path, ".local"), { recursive: true });
		const none = await ask(site, ["status", "a", ...MEMORY]);
		expect(none.exitCode).toBe(1);
	});
});
