import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { CleanedItem } from "../../src/operate/clean.js";
import { etcdForAll, etcdRange } from "../helpers/etcd.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";
import { endProcess, signalProcess } from "../helpers/processes.js";

const etcd = etcdForAll();

/** Temporary logs, and a store. */
const ENV = { ELASTIC_RUN_LOG_DIR: "" };

async function clean(site: LaunchSite, ...args: readonly string[]) {
	const words = ["clean", "--older-than", "0", "--output", "json", ...args];
	const { exitCode, stdout, stderr } = await site.launch(words).ended;
	const items: readonly CleanedItem[] = JSON.parse(stdout || "{}").items ?? [];
	return { exitCode, stderr, items };
}

it("clean lists and removes runs that are over, their temporary logs only when asked, and nothing of one that lives", async () => {
	const site = openSite();
	const at = ["--rdzv-endpoint", etcd().endpoint];
	const launch = (runId: string, ...command: string[]) =>
		site.launch([...at, "--run-id", runId, ...command], { env: ENV });
	const over = await launch("over", "sh", "-c", "exit 0").ended;
	expect(over.exitCode).toBe(0);
	const living = launch("lives", job("works.sh"));
	await site.sawWorkers(1);
	await living.saw("stderr", "round 1: started");
	const logs = () =>
		readdirSync(site.temporary).filter((name) =>
			name.startsWith("elastic-run-"),
		);
	expect(logs()).toHaveLength(2);

	const listed = await clean(site, "--logs", ...at);
	expect(listed.exitCode).toBe(0);
	const runs = listed.items.filter(({ kind }) => kind === "run");
	expect(runs).toMatchObject([
		{ name: "over", why: "succeeded: all workers succeeded", removed: null },
	]);
	const found = listed.items.filter(({ kind }) => kind === "logs");
	expect(found).toMatchObject([
		{ why: "logs of over, whose launcher is gone" },
	]);
	const young = await clean(site, "--older-than", "1h", "--logs", ...at);
	expect(young.items).toEqual([]);

	const removed = await clean(site, "--yes", ...at);
	expect(removed).toMatchObject({
		...{ exitCode: 0, items: [{ kind: "run", name: "over", removed: true }] },
	});
	expect(await etcdRange(etcd(), "/elastic-run/over/")).toEqual([]);
	expect(logs()).toHaveLength(2);
	const withLogs = await clean(site, "--yes", "--logs", ...at);
	expect(withLogs.items).toMatchObject([{ kind: "logs", removed: true }]);
	expect(existsSync(found[0]?.name ?? "")).toBe(false);
	expect(logs()).toHaveLength(1);
	const keys = await etcdRange(etcd(), "/elastic-run/lives/");
	expect(keys.length).toBeGreaterThan(3);
	living.signal("SIGTERM");
	expect((await living.ended).exitCode).toBe(143);
});

it("clean removes the directory of a launcher that was killed with its guard, and says so for people", async () => {
	const site = openSite();
	const launch = site.launch(["--run-id", "killed", job("works.sh")]);
	const [worker] = await site.sawWorkers(1);
	await launch.saw("stderr", "round 1: started");
	const [name = ""] = site.channelDirectories();
	const parent = join(site.channels, `elastic-run-${process.getuid?.()}`);
	const memory = ["--rdzv-backend", "memory"];
	const alive = await site.launch(["clean", "--older-than", "0", ...memory])
		.ended;
	expect(alive.stdout).toBe("nothing is left over\n");
	// A frozen guard cannot tidy up.
	const guards = guardsOf(launch.pid);
	for (const pid of guards) signalProcess(pid, "SIGSTOP");
	launch.signal("SIGKILL");
	await launch.ended;
	const young = await site.launch(["clean", ...memory]).ended;
	expect(young.stdout).toBe(
		"nothing older than 1h; 1 younger (see --older-than)\n",
	);
	const text = await site.launch(["clean", "--older-than", "0", ...memory])
		.ended;
	expect(text.stdout).toContain(`${join(parent, name)}  its launcher is gone`);
	expect(text.stderr).toContain("nothing was removed; --yes removes");
	const removed = await clean(site, "--yes", ...memory);
	expect(removed.items).toMatchObject([{ kind: "directory", removed: true }]);
	expect(existsSync(join(parent, name))).toBe(false);
	for (const pid of [...guards, worker?.pid]) endProcess(pid);
});

/** The processes that a launcher has started besides its workers: its guard. */
function guardsOf(pid: number): readonly number[] {
	const children = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8");
	return children
		.trim()
		.split(" ")
		.map(Number)
		.filter(
			(child) =>
				!readFileSync(`/proc/${child}/cmdline`, "utf8").includes("works.sh"),
		);
}
