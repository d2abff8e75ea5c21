import { appendFileSync, copyFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeEach, expect, it } from "vitest";
import { readProcess } from "../../src/base/process-stat.js";
import { needPython, PYTHON } from "../fixtures/python/start-python.js";
import { askUntil, observedAt } from "../helpers/ask.js";
import { poll } from "../helpers/etcd-gateway.js";
import { type Launch, type LaunchSite, openSite } from "../helpers/launch.js";
import { isAlive, signalProcess, waitFor } from "../helpers/processes.js";
import { isReady, order, parked, told } from "../helpers/warm.js";

beforeEach(needPython);

const EVERYTHING = fileURLToPath(
	new URL("../fixtures/warm/everything.py", import.meta.url),
);

interface Told {
	readonly round: string;
	readonly pid: number;
	readonly told: Readonly<Record<string, unknown>>;
	readonly drawn: readonly unknown[];
	readonly modules: Readonly<Record<string, unknown>>;
}

it("makes no difference to a script: what it knows of itself, its exit codes, its children", async () => {
	const site = openSite();
	const script = join(site.path, "train.py");
	copyFileSync(EVERYTHING, script);
	const launch = start(site, [script, join(site.path, "order")], {
		OTHER: "é \n x",
	});
	const helper = await isReady(launch);
	appendFileSync(script, "    print('other text')\n");
	order(site, 1, "exit");
	await launch.saw("stderr", "round 2: workers start warm");
	const [cold, warm] = await told<Told>(launch, 2);
	expect(warm?.told).toEqual(cold?.told);
	expect(warm?.modules).toMatchObject(cold?.modules ?? {});
	for (const [index, value] of (cold?.drawn ?? []).entries()) {
		expect(warm?.drawn[index]).not.toEqual(value);
	}
	expect(readProcess(warm?.pid ?? 0)?.parentId).toBe(helper);
	await launch.saw("stderr", "exit code 7");
	await parked(helper, 2);
	order(site, 2, "raise");
	await launch.saw("stderr", "round 3: workers start warm");
	order(site, 3, "pools");
	const { exitCode, stdout, stderr } = await launch.ended;
	expect(stderr).toMatch(
		/Traceback \(most recent call last\):\n.*train\.py", line \d+, in <module>\n.*\n.*train\.py", line \d+, in fail/,
	);
	expect(stderr).not.toContain("_elastic_run_warm");
	expect(stderr).not.toContain("restarts will be cold");
	expect(stdout).toContain("sums [12, 12, 12]");
	expect(stdout.match(/other text/g)).toHaveLength(1);
	expect(stdout.match(/at exit/g)).toHaveLength(3);
	expect(exitCode).toBe(0);
	expect(isAlive(helper)).toBe(false);
}, 120_000);

it("starts cold after its helper was killed, and leaves no process", async () => {
	const site = openSite();
	const runId = "told";
	const flags = ["--http", ":0", "--rdzv-id", runId];
	const script = [EVERYTHING, join(site.path, "order")];
	const launch = start(site, [...flags, ...script]);
	const helper = await isReady(launch);
	const waiting = await parked(helper);
	signalProcess(helper, "SIGKILL");
	await waitFor("the end of what it had forked", () => !isAlive(waiting));
	order(site, 1, "exit");
	await launch.saw(
		"stderr",
		"round 2: workers start cold: its helper has ended",
	);
	const url = `${await observedAt(launch)}/metrics`;
	const started = 'start="cold",reason="ended"';
	await askUntil(url, ({ body }) => body.includes(started));
	// The store hears of it a little later.
	const shown = await poll("how it started", 60_000, async () => {
		const { stdout } = await site.launch(["status", runId]).ended;
		return stdout.includes("started cold on node-a") ? stdout : undefined;
	});
	expect(shown).toContain("started cold on node-a: its helper has ended");
	expect(shown).toMatch(/ cold +(warm \(\d+ modules, \d+ MB\)|\w+) /);
	order(site, 2, "pools");
	expect((await launch.ended).exitCode).toBe(0);
}, 120_000);

function start(
	site: LaunchSite,
	command: readonly string[],
	env: Readonly<Record<string, string>> = {},
): Launch {
	return site.launch(["--warm", "auto", "--max-restarts", "3", ...command], {
		env: { PYTHON_EXEC: PYTHON, ...env },
	});
}
