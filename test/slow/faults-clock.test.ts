import { renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import type { RunHistory } from "../../src/status/history.js";
import type { RunDocument } from "../../src/status/run-document.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { job, openSite } from "../helpers/launch.js";
import {
	failWorker,
	livesAt,
	now,
	releaseWorkers,
	sawLives,
} from "../helpers/lives.js";
import { waitFor } from "../helpers/processes.js";

const etcd = etcdForAll();

const HOUR_MS = 3_600_000;
/** So long that no agent of a busy machine misses its keepalives. */
const TTL_SECONDS = 5;
/** By when a clock would have been believed that says that a lease is over. */
const LONG_ENOUGH_MS = 1_500 * TTL_SECONDS;
const PRELOAD = new URL("../fixtures/set-clock.js", import.meta.url);
const BOUND_MS = 60_000;

/** Sets the wall clock of launchers with this environment. */
function clockOf(directory: string) {
	const { SET_CLOCK: file } = clockEnvironment(directory);
	return (aheadMs: number) => {
		writeFileSync(`${file}.new`, String(aheadMs));
		renameSync(`${file}.new`, file);
	};
}

function clockEnvironment(directory: string) {
	const SET_CLOCK = join(directory, "clock");
	return { NODE_OPTIONS: `--import=${PRELOAD}`, SET_CLOCK };
}

/** Two agents in round 1, of which the first one coordinates. Its clock can be set. */
async function formPair() {
	const cluster = new Cluster(etcd(), {
		nodes: "2",
		conf: { lease_ttl: TTL_SECONDS, settle_timeout: 10, last_call_timeout: 1 },
		worker: ["beats.js"],
	});
	const { site, store } = cluster;
	const setClock = clockOf(site.path);
	setClock(0);
	const env = clockEnvironment(site.path);
	for (const nodeId of ["node-a", "node-b"]) {
		cluster.agent(nodeId, nodeId === "node-a" ? { env } : {});
		await poll("a coordinator", BOUND_MS, () => store.coordinator());
	}
	const members = await cluster.form("node-a", "node-b");
	await sawLives(site, 2, { round: 1 });
	/** Waits until the newest round's workers have run for longer than a lease lives. */
	const lasts = async () => {
		const since = now();
		await waitFor("workers that live on", () => {
			const newest = Math.max(...livesAt(site).map(({ round }) => round));
			const lives = livesAt(site, { round: newest });
			return (
				lives.length === 2 &&
				lives.every(({ lastBeat }) => lastBeat > since + LONG_ENOUGH_MS)
			);
		});
	};
	const ask = async <Told>(command: string): Promise<Told> => {
		const at = ["--rdzv-endpoint", etcd().endpoint, "--output", "json"];
		const { stdout } = await site.launch([command, store.runId, ...at]).ended;
		return JSON.parse(stdout);
	};
	return { cluster, members, setClock, lasts, ask };
}

it("the coordinator's wall clock that is set back by an hour, and forward again, changes nothing", async () => {
	const { cluster, members, setClock, lasts, ask } = await formPair();
	const { site, store } = cluster;
	setClock(-HOUR_MS);
	await lasts();
	expect(livesAt(site)).toHaveLength(2);
	failWorker(site, 1, members.indexOf("node-a"));
	await cluster.world(2, ...members);
	const once = { incidents: 1, charged: 1 };
	expect(await store.round()).toMatchObject({ ...once, synced: 2 });
	await store.sawNode("node-b", "running");
	const status = await ask<{ runs: readonly RunDocument[] } & RunDocument>(
		"status",
	);
	expect(status).toMatchObject({ phase: "running", round: 2, incidents: 1 });
	await lasts();

	setClock(0);
	await lasts();
	expect(livesAt(site)).toHaveLength(4);
	expect(await store.round()).toMatchObject({ ...once, synced: 2 });
	releaseWorkers(site);
	const ends = await cluster.ends({ "node-a": 0, "node-b": 0 });
	for (const { stderr } of Object.values(ends)) {
		expect(stderr).toMatch(/succeeded: 2 rounds, 1 restart, [1-9]\d*\.\d s/);
	}
	const { instances } = await ask<RunHistory>("history");
	const rounds = instances[0]?.rounds ?? [];
	expect(rounds.map(({ cause }) => cause.kind)).toEqual(["start", "failure"]);
	// What took a moment is not said to have taken an hour.
	const told = rounds.flatMap(({ phases }) => Object.values(phases));
	expect(Math.max(...told.map((ms) => ms ?? 0))).toBeLessThan(HOUR_MS / 2);
	expect(instances[0]?.repairs.longestMs).toBeLessThan(HOUR_MS / 2);
});

/** One launcher whose clock can be set, and its worker. */
async function oneWithClock(...flags: readonly string[]) {
	const site = openSite();
	const setClock = clockOf(site.path);
	setClock(0);
	const launch = site.launch([...flags, job("works.sh")], {
		env: clockEnvironment(site.path),
	});
	const [worker = expect.unreachable()] = await site.sawWorkers(1, 1);
	return { site, setClock, launch, worker };
}

it("K10 a clock that is set forward gives no restart back, and ends nothing", async () => {
	const { site, setClock, launch, worker } = await oneWithClock(
		...["--max-restarts", "1/1h", "--deadline", "1h"],
	);
	setClock(2 * HOUR_MS);
	process.kill(worker.pid, "SIGKILL");
	const [next = expect.unreachable()] = await site.sawWorkers(1, 2);
	setClock(4 * HOUR_MS);
	process.kill(next.pid, "SIGKILL");
	const { exitCode, stderr } = await launch.ended;
	expect(stderr).toContain("the budget of 1 restart in 1h is spent");
	expect(exitCode).not.toBe(0);
});

it("K10 a clock that is set back does not put the deadline off", async () => {
	const { setClock, launch } = await oneWithClock("--deadline", "8");
	setClock(-2 * HOUR_MS);
	const { exitCode, stderr } = await launch.ended;
	expect(stderr).toContain("deadline of 8s");
	expect(exitCode).toBe(1);
});
