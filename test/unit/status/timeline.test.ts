import { describe, expect, it } from "vitest";
import type { HistoryRecord } from "../../../src/rendezvous/records/history-record.js";
import type {
	InstanceHistory,
	RoundLine,
	RunHistory,
} from "../../../src/status/history.js";
import { phasesOf } from "../../../src/status/round-times.js";
import type {
	NodeStatus,
	RunDocument,
} from "../../../src/status/run-document.js";
import { type Span, spansOfNodes } from "../../../src/status/spans.js";
import {
	MOST_INCIDENTS,
	MOST_NODES,
	MOST_SPANS,
	timelineOf,
} from "../../../src/status/timeline.js";
import { nodeStatus, runStatus } from "../../helpers/run-status.js";
import { failureRecord, historyRecord } from "../../helpers/run-view.js";

const BEGUN = 1_000_000;

function line(change: Partial<HistoryRecord>): RoundLine {
	const { version, ...record } = historyRecord({ instance: 7, ...change });
	return {
		...record,
		phases: phasesOf(record),
		ranMs: null,
		steps: null,
		starts: [],
	};
}

function historyOf(rounds: readonly RoundLine[]): RunHistory {
	const instance: InstanceHistory = {
		...{ instance: 7, begunAt: BEGUN, endedAt: null, outcome: null },
		...{ incidents: 1, repairs: { count: 0, meanMs: null, longestMs: null } },
		...{ ranMs: 0, elapsedMs: 60_000, ranShare: 0, rounds },
	};
	return { version: 1, runId: "train", instances: [instance] };
}

/** A run of two nodes; rank 1 of b fails, c comes for it. */
const ROUNDS = [
	line({
		...{ round: 1, members: ["a", "b"], joined: ["a", "b"] },
		...{ begunAt: BEGUN, readyAt: BEGUN + 900, liftedAt: BEGUN + 1_000 },
		...{ startedAt: BEGUN + 1_200, endedAt: BEGUN + 9_000 },
	}),
	line({
		...{ round: 2, members: ["a", "c"], joined: ["c"], left: ["b"] },
		cause: {
			...{ kind: "failure", changeEvent: "SCALE_DOWN" },
			reason: "rank 1 on b: exit code 5",
			root: failureRecord("b", { rank: 1, pid: 99, timestamp: BEGUN + 8_990 }),
		},
		...{ begunAt: BEGUN + 9_000, stoppedAt: BEGUN + 9_300 },
		...{ readyAt: BEGUN + 9_400, liftedAt: BEGUN + 9_410 },
		...{ startedAt: BEGUN + 9_600 },
	}),
];

const inWords = (spans: readonly Span[] = []) =>
	spans.map(
		({ phase, round, from, to }) =>
			`${phase} ${round} ${from - BEGUN}..${to === null ? "" : to - BEGUN}`,
	);

describe("what a history says of each node", () => {
	it.each<[string, string | null, Readonly<Record<string, readonly string[]>>]>(
		[
			[
				"under hard a survivor ends its workers",
				"hard",
				{
					a: [
						"joining 1 0..1200",
						"running 1 1200..9000",
						"stopping 1 9000..9300",
						"joining 2 9300..9600",
						"running 2 9600..",
					],
					b: ["joining 1 0..1200", "running 1 1200..8990", "gone 2 8990.."],
					c: ["joining 2 9000..9600", "running 2 9600.."],
				},
			],
			[
				"under soft it pauses them",
				"soft",
				{
					a: [
						"joining 1 0..1200",
						"running 1 1200..9000",
						"paused 1 9000..9600",
						"running 2 9600..",
					],
				},
			],
		],
	)("%s", (_, policy, expected) => {
		const spans = spansOfNodes(ROUNDS, runStatus({ policy, nodes: [] }));
		for (const [nodeId, words] of Object.entries(expected)) {
			expect(inWords(spans.get(nodeId))).toEqual(words);
		}
	});

	it("never goes back, whatever two clocks say", () => {
		const [first, second] = ROUNDS;
		const skewed = [first, second && { ...second, stoppedAt: BEGUN + 99_000 }];
		const rounds = skewed.filter((each) => each !== undefined);
		const spans = spansOfNodes(rounds, runStatus({ nodes: [] }));
		const times = (spans.get("a") ?? []).map(({ from }) => from);
		expect(times).toEqual([...times].sort((left, right) => left - right));
	});
});

describe("what a node says of itself now", () => {
	const spansWith = (node: NodeStatus, run: Partial<RunDocument> = {}) => {
		const status = runStatus({ round: 2, ...run, nodes: [node] });
		return inWords(spansOfNodes(ROUNDS, status).get(node.nodeId));
	};
	const a = (change: Partial<NodeStatus>) => nodeStatus("a", change);

	it.each<[string, Partial<NodeStatus>, Partial<RunDocument>, string]>([
		[
			"waits",
			{ state: "ready", workerPids: [] },
			{ phase: "waiting" },
			"joining 3",
		],
		[
			"starts",
			{ state: "ready", workerPids: [] },
			{ phase: "running" },
			"joining 2",
		],
		["pauses", { state: "ready" }, { phase: "leaving" }, "paused 2"],
		[
			"is a spare",
			{ state: "ready", workerPids: [], part: "spare" },
			{ phase: "running" },
			"spare 2",
		],
		["has finished", { state: "finished" }, {}, "finished 2"],
		["leaves", { state: "leaving" }, {}, "leaving 2"],
	])("a node %s", (_, node, run, expected) => {
		const since = BEGUN + 20_000;
		expect(spansWith(a({ ...node, since }), run).slice(-2)).toEqual([
			"running 2 9600..20000",
			`${expected} 20000..`,
		]);
	});

	it("never begins before its past, and what a node without a time does is not guessed", () => {
		const stopping = a({ state: "stopping", since: BEGUN - 90_000 });
		expect(spansWith(stopping).slice(-2)).toEqual([
			"joining 2 9300..9600",
			"stopping 2 9600..",
		]);
		const gone = a({ state: "gone", since: null });
		expect(spansWith(gone).at(-1)).toBe("running 2 9600..");
	});

	it("ends with the run", () => {
		const outcome = {
			...({ result: "succeeded", exitCode: 0, root: null } as const),
			...{ reason: "all nodes have finished", endedAt: BEGUN + 30_000 },
		};
		const finished = a({ state: "finished", since: BEGUN + 29_000 });
		expect(spansWith(finished, { outcome }).slice(-2)).toEqual([
			"running 2 9600..29000",
			"finished 2 29000..30000",
		]);
	});
});

describe("the time line", () => {
	it("is the history's where nobody looked, with its rounds and what ended them", () => {
		const told = historyOf(ROUNDS);
		const status = runStatus({ nodes: [nodeStatus("c"), nodeStatus("a")] });
		const timeline = timelineOf(status, told);
		expect(timeline?.nodes.map(({ nodeId }) => nodeId)).toEqual([
			"c",
			"a",
			"b",
		]);
		expect(timeline).toMatchObject({
			...{ version: 1, instance: 7, from: BEGUN, endedAt: null, outcome: null },
			rounds: [
				{ round: 1, liftedAt: BEGUN + 1_000, endedAt: BEGUN + 9_000, nodes: 2 },
				{ round: 2, cause: "failure", endedAt: null },
			],
			incidents: [
				{
					...{ kind: "failure", at: BEGUN + 8_990, round: 1, nodes: ["b"] },
					...{ rank: 1, pid: 99, reason: "rank 1 on b: exit code 5" },
				},
			],
			dropped: { nodes: 0, rounds: 0, incidents: 0, spansBefore: null },
		});
	});

	it("has the incident that ended a round before the next one has begun, and once", () => {
		const root = failureRecord("a", {
			id: "new",
			rank: 3,
			timestamp: BEGUN + 50_000,
		});
		const reason = "rank 3 on a: killed by SIGKILL";
		const lastIncident = { round: 2, at: BEGUN + 50_010, reason, root };
		const outcome = {
			...({ result: "failed", exitCode: 1 } as const),
			...{ reason, root, endedAt: BEGUN + 50_100 },
		};
		const status = runStatus({ lastIncident, outcome });
		const timeline = timelineOf(status, historyOf(ROUNDS));
		expect(timeline?.incidents.map(({ reason }) => reason)).toEqual([
			"rank 1 on b: exit code 5",
			reason,
		]);
		expect(timeline?.outcome).toEqual({ result: "failed", reason });
	});

	it.each([
		[undefined, ["a"]],
		[true, []],
	])("names the node of a failure, unless it only stands for the round (%s)", (isUnattributed, nodes) => {
		const root = failureRecord("a", { id: "new", isUnattributed });
		const lastIncident = { round: 2, at: BEGUN, reason: "hung", root };
		const status = runStatus({ lastIncident });
		const timeline = timelineOf(status, historyOf(ROUNDS));
		const told = timeline?.incidents.find(({ reason }) => reason === "hung");
		expect(told?.nodes).toEqual(nodes);
	});

	it("names who came and who went where no worker failed", () => {
		const [first] = ROUNDS;
		const change = (kind: "scale-up" | "scale-down", reason: string) => ({
			cause: { kind, changeEvent: null, reason, root: null },
		});
		const rounds = [
			...(first ? [first] : []),
			line({
				round: 2,
				begunAt: BEGUN + 1,
				joined: ["c"],
				...change("scale-up", "c came"),
			}),
			line({
				round: 3,
				begunAt: BEGUN + 2,
				left: ["a", "b"],
				...change("scale-down", "two left"),
			}),
		];
		const { incidents } = timelineOf(runStatus(), historyOf(rounds)) ?? {};
		expect(incidents).toMatchObject([
			{ kind: "scale-up", nodes: ["c"], rank: null, round: 1 },
			{ kind: "scale-down", nodes: ["a", "b"], rank: null, round: 2 },
		]);
	});

	it("is bounded, keeps the newest, and says how much it left out", () => {
		const names = Array.from({ length: 250 }, (_, index) => `node-${index}`);
		const rounds = Array.from({ length: 260 }, (_, index) =>
			line({
				...{ round: index + 1, members: names, begunAt: BEGUN + index * 100 },
				...{
					liftedAt: BEGUN + index * 100 + 20,
					endedAt: BEGUN + index * 100 + 99,
				},
				cause: {
					...{ kind: "failure", changeEvent: null, reason: `failure ${index}` },
					root: failureRecord("node-1", { id: String(index) }),
				},
			}),
		);
		const nodes = names.map((nodeId) => nodeStatus(nodeId));
		const timeline = timelineOf(
			runStatus({ round: 260, nodes }),
			historyOf(rounds),
		);
		const spans = timeline?.nodes.flatMap(({ spans }) => spans) ?? [];
		expect(timeline?.nodes).toHaveLength(MOST_NODES);
		expect(spans.length).toBeLessThanOrEqual(MOST_SPANS);
		expect(timeline?.incidents).toHaveLength(MOST_INCIDENTS);
		expect(timeline?.incidents.at(-1)?.reason).toBe("failure 259");
		expect(timeline?.dropped).toMatchObject({
			nodes: 50,
			rounds: 60,
			incidents: 60,
		});
		expect(timeline?.dropped.spansBefore).toBeGreaterThan(BEGUN + 20_000);
		expect(timeline?.nodes[0]?.spans.at(-1)).toMatchObject({ round: 260 });
	});
});
