import { existsSync, readdirSync } from "node:fs";
import { expect, it } from "vitest";
import type { CleanedItem } from "../../src/operate/clean.js";
import { etcdForAll, etcdRange } from "../helpers/etcd.js";
import { job, type LaunchSite, openSite } from "../helpers/launch.js";

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
		{ name: "over", why: "succeeded: all nodes have finished", removed: null },
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
	const words = ["clean", "--older-than", "0", ...at];
	// C12
	expect((await site.launch(words).ended).stdout).toBe(
		"nothing is left over but 1 temporary log (see --logs)\n",
	);
	const withLogs = await clean(site, "--yes", "--logs", ...at);
	expect(withLogs.items).toMatchObject([{ kind: "logs", removed: true }]);
	expect(existsSync(found[0]?.name ?? "")).toBe(false);
	expect(logs()).toHaveLength(1);
	const keys = await etcdRange(etcd(), "/elastic-run/lives/");
	expect(keys.length).toBeGreaterThan(3);
	living.signal("SIGTERM");
	expect((await living.ended).exitCode).toBe(143);
});
