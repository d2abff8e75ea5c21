import { expect, it } from "vitest";
import type { RunHistory } from "../../src/status/history.js";
import type { Timeline } from "../../src/status/timeline.js";
import { ask, observedAt } from "../helpers/ask.js";
import { Cluster } from "../helpers/cluster.js";
import { etcdForAll } from "../helpers/etcd.js";
import { poll } from "../helpers/etcd-gateway.js";
import { type Life, now, releaseWorkers, sawLives } from "../helpers/lives.js";

const NODES = ["node-a", "node-b", "node-c"] as const;
const LEASE_MS = 6_000;
/**
 * What a busy machine, the time between two keepalives and etcd's own look at its leases may
 * make of a figure. Who counts from the lease's end is wrong by nearly twice as much.
 */
const TOLERANCE_MS = LEASE_MS / 2;

const etcd = etcdForAll();

/** From when the last of these workers was there until the first of them was not. */
function togetherMs(lives: readonly Life[]): number {
	const began = Math.max(...lives.map(({ firstBeat }) => firstBeat));
	return firstEnd(lives) - began;
}

function firstEnd(lives: readonly Life[]): number {
	return Math.min(...lives.map(({ lastBeat }) => lastBeat));
}

function expectNear(told: number | null | undefined, truth: number): void {
	expect(told).toBeGreaterThan(truth - TOLERANCE_MS);
	expect(told).toBeLessThan(truth + TOLERANCE_MS);
}

/** How long all steps into rounds have taken, and how many rounds began because a node left. */
async function measured(url: string) {
	const { body } = await ask(`${url}/metrics`);
	const sumOf = (pattern: RegExp) =>
		[...body.matchAll(pattern)].reduce(
			(sum, [, value]) => sum + Number(value),
			0,
		);
	return {
		phasesMs:
			1_000 * sumOf(/^elastic_run_round_phase_seconds_sum\{.*\} (.+)$/gm),
		left: sumOf(/^elastic_run_rounds_total\{.*cause="scale-down".*\} (.+)$/gm),
		incidents: sumOf(/^elastic_run_incidents_total\{.*\} (.+)$/gm),
	};
}

it("the figures of a repair are what workers write of their own lives, when the agent that coordinates is killed", async () => {
	const cluster = new Cluster(etcd(), {
		...{ nodes: "2:3", worker: ["beats.js"] },
		...{
			conf: { lease_ttl: LEASE_MS / 1_000 },
			// The planner takes for granted that a lost node was gone for its lease.
			flags: ["--http", "127.0.0.1:0", "--links", "off"],
		},
	});
	const { site, store } = cluster;
	await cluster.form(...NODES);
	const lost = (await store.coordinator()) ?? "";
	const [survivor = ""] = NODES.filter((nodeId) => nodeId !== lost);
	const ranSince = now();
	await poll("a while in which all workers run", 60_000, async () =>
		now() - ranSince > LEASE_MS ? true : undefined,
	);

	const url = await observedAt(cluster.launchOf(survivor));
	const before = await measured(url);
	expect(before.left).toBe(0);

	const killedAt = Date.now();
	await cluster.kill(lost);
	const repaired = await sawLives(site, 2, { round: 2 });
	await store.sawNode(survivor, "running", 2);
	const after = await poll("the metrics of the repair", 60_000, async () => {
		const read = await measured(url);
		return read.left > 0 ? read : undefined;
	});
	const timeline: Timeline = JSON.parse(
		(await ask(`${url}/status`)).body,
	).timeline;
	releaseWorkers(site);
	const rest = NODES.filter((nodeId) => nodeId !== lost);
	await cluster.ends(Object.fromEntries(rest.map((nodeId) => [nodeId, 0])));

	const first = await sawLives(site, 3, { round: 1 });
	const second = await sawLives(site, 2, { round: 2 });
	const stoodStillMs =
		Math.max(...repaired.map(({ firstBeat }) => firstBeat)) - firstEnd(first);
	const words = ["history", store.runId, "--rdzv-endpoint", etcd().endpoint];
	const { stdout } = await site.launch([...words, "--output", "json"]).ended;
	const [told] = (JSON.parse(stdout) as RunHistory).instances;
	expect(told?.repairs.count).toBe(1);
	expectNear(told?.repairs.meanMs, stoodStillMs);
	expectNear(told?.repairs.longestMs, stoodStillMs);
	expectNear(told?.rounds[1]?.phases.totalMs, stoodStillMs);
	expect(after).toMatchObject({ left: 1, incidents: 0 });
	expectNear(after.phasesMs - before.phasesMs, stoodStillMs);
	expectNear(told?.rounds[0]?.ranMs, togetherMs(first));
	const ranMs = togetherMs(first) + togetherMs(second);
	expectNear(told?.ranMs, ranMs);
	expectNear((told?.ranShare ?? 0) * (told?.elapsedMs ?? 0), ranMs);
	expect(told?.incidents).toBe(0);
	const text = (await site.launch(words).ended).stdout;
	expect(text).toContain("0 incidents, nodes left 1 time, ");

	const row = timeline.nodes.find(({ nodeId }) => nodeId === lost);
	expect(row?.spans.at(-1)).toMatchObject({ phase: "gone", to: null });
	expectNear(
		row?.spans.findLast(({ phase }) => phase === "running")?.to,
		killedAt,
	);
	expectNear(timeline.incidents.at(-1)?.at, killedAt);
});
