import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import {
	METRICS,
	type MetricSources,
} from "../../../src/http/metric-values.js";
import { countRounds, Metrics } from "../../../src/http/metrics.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import { describeRun } from "../../../src/status/describe-run.js";
import { describeHistory } from "../../../src/status/history.js";
import type { NodeNow } from "../../../src/status/node-document.js";
import type { NodeStart } from "../../../src/status/starts.js";
import { nodeNow } from "../../helpers/node-now.js";
import { parseMetrics } from "../../helpers/parse-metrics.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import {
	historyRecord,
	nodeRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";
import { sampleGoodput } from "../../helpers/sample-goodput.js";

const LABELS = { run_id: "run", node_id: 'a"\\\nb' };
const WORLD = {
	...{ worldSize: 4, groupWorldSize: 2, roleWorldSizes: { default: 4 } },
	...{ masterAddr: "a", masterPort: 1 },
};
const FAILURE = {
	...({ kind: "failure", changeEvent: "SCALE_DOWN" } as const),
	...{ reason: "rank 1 on a: exit code 1", root: null },
};

const BARE: MetricSources = {
	...{ node: nodeNow(), wallTime: 3_500 },
	...{ nodeId: "a", role: "default", policy: "hard" },
	...{ run: undefined, history: undefined, goodput: undefined },
	latencyMs: null,
	hangs: new Map([["stopped", 2]]),
};

/** A run of so many rounds, the last of which has run for a second. */
function runOf(rounds: number): MetricSources {
	const keys = new RunKeys("run");
	const round = roundRecord({
		...{ synced: rounds, deprecated: rounds - 1, planId: "plan-1", seats: 1 },
		...{ world: WORLD, incidents: rounds - 1, charged: rounds - 1 },
	});
	const lines = Array.from({ length: rounds }, (_, index) => {
		const begunAt = index * 10_000;
		const isLast = index === rounds - 1;
		return historyRecord({
			...{
				round: index + 1,
				begunAt,
				stoppedAt: index === 0 ? null : begunAt + 500,
			},
			...{ readyAt: begunAt + 2_000, liftedAt: begunAt + 2_020 },
			...(isLast
				? {}
				: { startedAt: begunAt + 4_000, endedAt: begunAt + 10_000 }),
			...(index === 0 ? {} : { cause: FAILURE }),
		});
	});
	const startedAt = (rounds - 1) * 10_000 + 4_000;
	const progress: ProgressRecord = {
		...{ version: 1, nodeId: "a", instance: 1, round: rounds },
		workers: [
			{
				...{ localRank: 1, step: 40, source: "report", rate: 2 },
				...{ stepAt: startedAt + 500, metrics: { loss: 0.25 } },
			},
			{
				...{ localRank: 0, step: 9, source: "report", rate: 2 },
				stepAt: Math.max(0, startedAt - 20_000),
			},
		],
		straggler: {
			...{ rank: 3, node: "b", lostSecondsPerStep: 0.03, lostSeconds: 60 },
			since: startedAt,
		},
	};
	const snapshot = snapshotOf({
		[keys.round]: round,
		[keys.spec]: {
			...({ version: 1, minNodes: 1, maxNodes: 1, policy: "hard" } as const),
			...{ maxRestarts: 3, joinTimeoutMs: 1, lastCallTimeoutMs: 1 },
			...{ settleTimeoutMs: 1, leaseTtlMs: 1 },
		},
		[keys.node("a")]: nodeRecord("a", {
			state: "running",
			claim: rounds,
			since: startedAt,
		}),
		[keys.seat("a")]: seatRecord("a", { round: rounds }),
		[keys.progressOf("a")]: progress,
		...Object.fromEntries(
			lines.map((line) => [keys.historyOf(line.round), line]),
		),
	});
	const wallTime = startedAt + 1_000;
	const workers = [0, 1].map((rank) => ({
		...{ localRank: rank, rank, pid: 100 + rank },
		...({ state: "running", since: startedAt } as const),
	}));
	const node = nodeNow({
		...{ phase: "RUNNING", since: startedAt, eventAt: startedAt },
		...{ workers, round, readiness: { isReady: true, reason: "" } },
	});
	return {
		...{ ...BARE, node, wallTime, latencyMs: 2.5 },
		run: describeRun("run", snapshot, wallTime),
		history: describeHistory("run", snapshot, wallTime)?.instances[0],
	};
}

const parsed = async (metrics: Metrics, sources: MetricSources) =>
	parseMetrics(await metrics.render(sources, LABELS));

describe("/metrics", () => {
	it("tells what a node knows by its links", async () => {
		const suspected = [{ nodeId: "c", why: "silent" } as const];
		const links = { heard: ["b", "d"], suspected, riding: null };
		const riding = { since: BARE.wallTime - 2_500, nodes: 3, heard: 3 };
		const metrics = new Metrics(0);
		const told = async (now: NodeNow["links"]) => {
			const node = nodeNow({ links: now });
			const found = await parsed(metrics, { ...BARE, node });
			return found.samples
				.filter(({ name }) => /_(links_.*|riding_out_seconds)$/.test(name))
				.map(({ value }) => value);
		};
		expect(await told(null)).toEqual([]);
		expect(await told(links)).toEqual([2, 1, 0]);
		expect(await told({ ...links, riding })).toEqual([2, 1, 2.5]);
	});

	it("tells of a run that runs, in Prometheus' format", async () => {
		const metrics = new Metrics(1_234.5);
		const found = await parsed(metrics, runOf(3));
		const numbers = {
			elastic_run_ready: 1,
			elastic_run_round: 3,
			elastic_run_world_size: 4,
			elastic_run_nodes: 2,
			elastic_run_incidents_total: 2,
			elastic_run_restarts_total: 2,
			elastic_run_restarts_left: 1,
			elastic_run_seconds_since_last_event: 1,
			elastic_run_store_latency_seconds: 0.0025,
		};
		for (const [name, value] of Object.entries(numbers)) {
			expect(found.value(name), name).toBe(value);
		}
		// 6 s of each of the first two rounds, 1 s of the last, of 25 s.
		expect(found.value("elastic_run_running_ratio")).toBeCloseTo(13 / 25);
		expect(
			found.value("elastic_run_info", { role: "default", policy: "hard" }),
		).toBe(1);
		expect(found.value("elastic_run_phase", { phase: "RUNNING" })).toBe(1);
		expect(found.value("elastic_run_phase", { phase: "JOINING" })).toBe(0);
		expect(found.value("elastic_run_run_phase", { phase: "running" })).toBe(1);
		expect(found.value("elastic_run_workers", { state: "running" })).toBe(2);
		const rank = { rank: "1" };
		expect(found.value("elastic_run_step", rank)).toBe(40);
		expect(found.value("elastic_run_steps_per_second", rank)).toBe(2);
		expect(found.value("elastic_run_seconds_since_last_step", rank)).toBe(0.5);
		const dead = { rank: "0", node: "a" };
		expect(found.value("elastic_run_behind_seconds", dead)).toBe(21);
		const loss = { ...rank, number: "loss" };
		expect(found.value("elastic_run_reported", loss)).toBe(0.25);
		const hangs = (kind: string) =>
			found.value("elastic_run_hangs_total", { kind });
		expect([hangs("stopped"), hangs("hung")]).toEqual([2, 0]);
		const straggler = { rank: "3", node: "b" };
		expect(
			found.value("elastic_run_straggler_seconds_per_step", straggler),
		).toBe(0.03);
		expect(found.value("elastic_run_straggler_lost_seconds", straggler)).toBe(
			60,
		);
		expect(found.value("process_start_time_seconds")).toBe(1_234.5);
		expect(found.value("process_resident_memory_bytes")).toBeGreaterThan(1e6);
		for (const { labels } of found.samples) {
			expect(labels).toMatchObject({ run_id: "run", node_id: 'a\\"\\\\\\nb' });
		}
	});

	it("tells what the time was spent on, once that is known", async () => {
		const metrics = new Metrics(1_234.5);
		const before = await parsed(metrics, runOf(1));
		const names = before.samples.map(({ name }) => name);
		expect(names).not.toContain("elastic_run_node_seconds");
		expect(names).not.toContain("elastic_run_goodput_ratio");
		const goodput = sampleGoodput();
		const found = await parsed(metrics, { ...runOf(1), goodput });
		const seconds = (category: string) =>
			found.value("elastic_run_node_seconds", { category });
		expect(seconds("productive")).toBe(90);
		expect(seconds("saving")).toBe(30);
		expect(seconds("idle")).toBe(0);
		const all = found.samples.filter(
			({ name }) => name === "elastic_run_node_seconds",
		);
		expect(all.reduce((sum, { value }) => sum + value, 0)).toBe(200);
		expect(found.value("elastic_run_goodput_ratio")).toBe(0.45);
	});

	it("counts each round once, and its steps", async () => {
		const metrics = new Metrics(1_234.5);
		await parsed(metrics, runOf(2));
		const twice = await parsed(metrics, runOf(2));
		expect(twice.value("elastic_run_rounds_total", { cause: "start" })).toBe(1);
		expect(twice.value("elastic_run_rounds_total", { cause: "failure" })).toBe(
			1,
		);
		const more = await parsed(metrics, runOf(4));
		expect(more.value("elastic_run_rounds_total", { cause: "failure" })).toBe(
			3,
		);
		const stop = { phase: "stop" };
		const name = "elastic_run_round_phase_seconds";
		expect(more.types.get(name)).toBe("histogram");
		expect(more.value(`${name}_count`, stop)).toBe(3);
		expect(more.value(`${name}_sum`, stop)).toBeCloseTo(1.5);
		expect(more.value(`${name}_bucket`, { ...stop, le: "0.3" })).toBe(0);
		expect(more.value(`${name}_bucket`, { ...stop, le: "1" })).toBe(3);
		expect(more.value(`${name}_count`, { phase: "start" })).toBe(4);
	});

	it("has no number for what is not known", async () => {
		const metrics = new Metrics(1_234.5);
		await parsed(metrics, runOf(1));
		const found = await parsed(metrics, BARE);
		const names = new Set(found.samples.map(({ name }) => name));
		for (const name of [
			"round",
			"world_size",
			"restarts_left",
			"running_ratio",
		]) {
			expect(names.has(`elastic_run_${name}`), name).toBe(false);
		}
		expect(found.value("elastic_run_ready")).toBe(0);
		expect(found.value("elastic_run_seconds_since_last_event")).toBe(2.5);
	});
});

it("counts a round in the making later", () => {
	const history = runOf(2).history;
	if (history === undefined) throw new Error("no history");
	const [first, second] = history.rounds;
	if (first === undefined || second === undefined) throw new Error("no rounds");
	const rounds = [first, { ...second, startedAt: null }];
	expect(countRounds({ ...history, rounds }, 0)).toMatchObject([{ round: 1 }]);
	expect(countRounds(history, 1)).toMatchObject([
		{ round: 2, cause: "failure" },
	]);
	expect(countRounds(history, 2)).toEqual([]);
});

describe("/metrics of warm starts", () => {
	const start = (change: Partial<NodeStart>): NodeStart => ({
		...{ nodeId: "a", warm: 2, cold: 0, reason: null, kind: null },
		...{ toFirstMs: 300, savedMs: null, ...change },
	});
	const cold = (kind: NodeStart["kind"]) =>
		start({ warm: 0, cold: 2, reason: "…", kind });
	const sources = (...starts: (readonly NodeStart[])[]): MetricSources => {
		const { run, history, ...rest } = runOf(starts.length);
		if (!run || !history) throw new Error("no run");
		const nextStart = { start: "warm", bytes: 296_000_000 } as const;
		return {
			...rest,
			run: { ...run, nodes: run.nodes.map((one) => ({ ...one, nextStart })) },
			history: {
				...history,
				rounds: history.rounds.map((line, index) => ({
					...line,
					starts: starts[index] ?? [],
				})),
			},
		};
	};

	it("counts this node's by class of reason, once each, and what all have saved", async () => {
		const metrics = new Metrics(1_234.5);
		const other = start({ nodeId: "b", savedMs: 3_000 });
		const warm = start({ savedMs: 4_000 });
		await parsed(metrics, sources([cold("first")], []));
		const late = start({ warm: 1, savedMs: 4_000 });
		await parsed(metrics, sources([cold("first")], [late, other]));
		const found = await parsed(
			metrics,
			sources([cold("first")], [warm, other], [cold(null)]),
		);
		const name = "elastic_run_worker_starts_total";
		expect(found.value(name, { start: "warm" })).toBe(2);
		expect(found.value(name, { start: "cold", reason: "first" })).toBe(2);
		expect(found.value(name, { start: "cold", reason: "other" })).toBe(2);
		expect(found.value("elastic_run_warm_saved_seconds")).toBe(3);
		const bytes = "elastic_run_warm_helper_memory_bytes";
		expect(found.value(bytes)).toBe(296_000_000);
	});

	it("has none without --warm auto", async () => {
		const { samples } = await parsed(new Metrics(1_234.5), runOf(2));
		const names = samples.map(({ name }) => name);
		expect(names.filter((name) => /_warm|_starts/.test(name))).toEqual([]);
	});
});

it("docs/http.md has a row for each metric, and no others", async () => {
	const { types } = await parsed(new Metrics(1_234.5), runOf(2));
	const rows = [
		...readFileSync("docs/http.md", "utf8").matchAll(
			/^\| `((?:elastic_run|process)_\w+)`[^|]*\| (\w+) \|/gm,
		),
	].map(([, name = "", type = ""]) => [name, type]);
	expect(rows).toEqual([...types]);
	expect(types.size).toBeGreaterThan(METRICS.length);
});
