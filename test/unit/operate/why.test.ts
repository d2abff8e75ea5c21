import { describe, expect, it } from "vitest";
import type { RankEvidence } from "../../../src/model/evidence.js";
import {
	formatWhy,
	judgeNow,
	nodesWithWorkers,
	type WhyReport,
} from "../../../src/operate/why.js";
import type {
	RunDocument,
	WorkerStatus,
} from "../../../src/status/run-document.js";
import { nodeStatus, runStatus } from "../../helpers/run-status.js";

/** One of them stands at another place than the others. */
const RANKS = [0, 1, 2].map(
	(rank): RankEvidence => ({
		...{ rank, localRank: rank, nodeId: "node-a", pid: 100 + rank },
		...{ activity: "idle", waitChannel: "futex_wait", threads: 4, step: 5 },
		frames: [{ file: "train.py", line: rank === 2 ? 9 : 4, function: "main" }],
		...{ where: undefined, groups: [] },
	}),
);
const BETWEEN = {
	phase: "waiting",
	nodes: [],
	waiting: {
		words: "waiting for 1 more node (at least 2): node-a is here; 590 s left",
		...{ since: null, until: null, needed: 1, missing: [] },
	},
} as const;

const reportOf = (
	status: Pick<RunDocument, "phase" | "waiting" | "nodes">,
	ranks: readonly RankEvidence[],
): WhyReport => ({
	...{ version: 1, runId: "train", place: "etcd", instance: 7, round: 2 },
	...{ phase: status.phase, ranks, silent: [] },
	verdict: judgeNow(status, ranks, true),
});

describe("why", () => {
	it("A5 asks each node whose workers are there, also if they are paused, run on or do not end", () => {
		const nodes = [
			nodeStatus("runs"),
			nodeStatus("starts", { workerPids: [null] }),
			nodeStatus("paused", { state: "ready" }),
			nodeStatus("stops", { state: "stopping", workerPids: [null, 7] }),
			nodeStatus("waits", { state: "ready", workerPids: [] }),
			nodeStatus("gone", { state: "gone" }),
		];
		expect(nodesWithWorkers({ nodes })).toEqual([
			...["runs", "starts", "paused", "stops"],
		]);
	});

	it("C3 accuses a rank that makes no step while others do, unless it waits for them", () => {
		const behind = [{ rank: 1, node: "node-a", seconds: 661, steps: 3_300 }];
		const status = { ...runStatus(), behind };
		expect(judgeNow(status, RANKS, true)).toMatchObject({
			kind: "hung",
			suspects: [{ rank: 1, why: /^no step for 11 min 1 s, 3,300 behind; / }],
		});
		const frames = [
			{ file: "torch/distributed/c.py", line: 4, function: "barrier" },
		];
		const waits = RANKS.map((one) => ({ ...one, frames }));
		expect(judgeNow(status, waits, true).suspects).toEqual([]);
	});

	it.each<[string, number | null, number, string]>([
		["nobody while steps come", 4.9, 0.2, "steps come, and no rank holds"],
		["nobody before it is known how often", null, 60, "no suspect"],
		["the only rank once none has come for long", 4.9, 60, "the only rank"],
	])("A5 accuses %s", (_, stepRate, secondsSinceStep, reason) => {
		const worker: WorkerStatus = {
			...{ localRank: 0, rank: 0, step: 5, stepRate, secondsSinceStep },
			...{ stepSource: "hook", start: "cold", metrics: {} },
		};
		const nodes = [nodeStatus("node-a", { workers: [worker] })];
		const verdict = judgeNow(runStatus({ nodes }), RANKS.slice(0, 1), true);
		expect(verdict.reason).toContain(reason);
		expect(verdict.suspects).toHaveLength(reason === "the only rank" ? 1 : 0);
		const held = RANKS.map((one) => ({ ...one, activity: "stopped" as const }));
		expect(judgeNow(runStatus({ nodes }), held, true).kind).toBe("stopped");
	});

	it("A5 accuses nobody between two rounds, and says what the run waits for", () => {
		expect(judgeNow(runStatus(), RANKS, true).suspects).toMatchObject([
			{ rank: 2 },
		]);
		expect(judgeNow(BETWEEN, RANKS, true)).toEqual({
			...{ kind: "hung", suspects: [], waiting: [0, 1, 2] },
			reason: `between two rounds: ${BETWEEN.waiting.words}`,
		});
	});

	it("A5 shows that with what the workers do, and where there are none", () => {
		const first = `run train, round 2: between two rounds: ${BETWEEN.waiting.words}\n`;
		expect(formatWhy(reportOf(BETWEEN, RANKS.slice(0, 2)))).toBe(
			`${first}\nranks 0-1: idle, waits in futex_wait\n  train.py:4 in main\n`,
		);
		expect(formatWhy(reportOf(BETWEEN, []))).toBe(first);
		expect(formatWhy(reportOf(runStatus(), []))).toBe(
			"run train, round 2: no workers run\n",
		);
		const mute = { ...reportOf(runStatus(), []), silent: ["node-a"] };
		expect(formatWhy(mute)).toBe(
			"run train, round 2: workers run, and no launcher answers: it may be stopped, or busy\n  no answer from node-a\n",
		);
	});
});
