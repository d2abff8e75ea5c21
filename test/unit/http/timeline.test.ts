import { describe, expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
	type Next,
} from "../../../src/agent/machine/state.js";
import { spansFromHistory } from "../../../src/http/history-spans.js";
import {
	NOTHING_SEEN,
	type Sightings,
	seeAgent,
	seeRun,
} from "../../../src/http/sightings.js";
import { fillGaps, type Span } from "../../../src/http/spans.js";
import {
	MOST_INCIDENTS,
	MOST_NODES,
	MOST_SPANS,
	timelineOf,
} from "../../../src/http/timeline.js";
import type {
	InstanceHistory,
	RoundLine,
	RunHistory,
} from "../../../src/rendezvous/describe/describe-history.js";
import { phasesOf } from "../../../src/rendezvous/describe/measure-history.js";
import type {
	NodeStatus,
	RunStatus,
} from "../../../src/rendezvous/describe/run-status.js";
import type { HistoryRecord } from "../../../src/rendezvous/records/history-record.js";
import { nodeStatus, runStatus } from "../../helpers/run-status.js";
import {
	failureRecord,
	historyRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";

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
		const spans = spansFromHistory(ROUNDS, { policy, outcome: null });
		for (const [nodeId, words] of Object.entries(expected)) {
			expect(inWords(spans.get(nodeId))).toEqual(words);
		}
	});

	it("never goes back, whatever two clocks say", () => {
		const [first, second] = ROUNDS;
		const skewed = [first, second && { ...second, stoppedAt: BEGUN + 99_000 }];
		const rounds = skewed.filter((each) => each !== undefined);
		const spans = spansFromHistory(rounds, { policy: "hard", outcome: null });
		const times = (spans.get("a") ?? []).map(({ from }) => from);
		expect(times).toEqual([...times].sort((left, right) => left - right));
	});
});

describe("spans that were seen, and others in their gaps", () => {
	const span = (
		phase: Span["phase"],
		from: number,
		to: number | null,
		round = 1,
	): Span => ({ phase, round, from, to });
	it.each<[string, readonly Span[], readonly Span[], readonly Span[]]>([
		["nothing seen", [], [span("running", 1, 5)], [span("running", 1, 5)]],
		[
			"the past is the others'",
			[span("running", 10, null)],
			[span("joining", 0, 8), span("running", 8, null)],
			[span("joining", 0, 8), span("running", 8, null)],
		],
		[
			"a gap is the others'",
			[span("running", 0, 10), span("running", 30, null, 2)],
			[span("running", 0, 12), span("stopping", 12, 40)],
			[
				span("running", 0, 12),
				span("stopping", 12, 30),
				span("running", 30, null, 2),
			],
		],
		[
			"a gap of which nobody tells is what was before it",
			[span("running", 0, 10), span("gone", 30, null)],
			[],
			[span("running", 0, 30), span("gone", 30, null)],
		],
	])("%s", (_, seen, others, expected) => {
		expect(fillGaps(seen, others)).toEqual(expected);
	});
});

describe("a run that is looked at", () => {
	const look = (
		sightings: Sightings,
		at: number,
		nodes: readonly NodeStatus[],
		change: Partial<RunStatus> = {},
	) => seeRun(sightings, runStatus({ round: 1, nodes, ...change }), BEGUN + at);
	const rowsAt = (sightings: Sightings, change: Partial<RunStatus> = {}) =>
		Object.fromEntries(
			timelineOf(
				runStatus({ round: 1, ...change }),
				undefined,
				sightings,
			)?.nodes.map(({ nodeId, spans }) => [nodeId, inWords(spans)]) ?? [],
		);

	it("knows from when a node was in its phase, and keeps the row of one that went", () => {
		const b = (change: Partial<NodeStatus>) => nodeStatus("b", change);
		let seen = look(NOTHING_SEEN, 5_000, [b({ since: BEGUN + 1_000 })]);
		seen = look(seen, 6_000, [b({ state: "stopping", since: BEGUN + 5_400 })]);
		seen = look(seen, 7_000, [b({ state: "gone", since: null })]);
		seen = look(seen, 8_000, []);
		expect(rowsAt(seen)).toEqual({
			b: ["running 1 1000..5400", "stopping 1 5400..6000", "gone 1 6000.."],
		});
	});

	it.each<[string, Partial<NodeStatus>, Partial<RunStatus>, string]>([
		[
			"waits",
			{ state: "ready", workerPids: [] },
			{ phase: "waiting" },
			"joining 2",
		],
		[
			"starts",
			{ state: "ready", workerPids: [] },
			{ phase: "running" },
			"joining 1",
		],
		["pauses", { state: "ready" }, { phase: "leaving" }, "paused 1"],
		[
			"is a spare",
			{ state: "ready", workerPids: [], part: "spare" },
			{ phase: "running" },
			"spare 1",
		],
		["has finished", { state: "finished" }, {}, "finished 1"],
		["leaves", { state: "leaving" }, {}, "leaving 1"],
	])("a node %s", (_, node, run, expected) => {
		const seen = look(NOTHING_SEEN, 500, [nodeStatus("a", node)], run);
		expect(rowsAt(seen).a?.[0]).toMatch(new RegExp(`^${expected} `));
	});

	it("believes no clock that is ahead, or behind what was seen", () => {
		let seen = look(NOTHING_SEEN, 1_000, [
			nodeStatus("a", { since: BEGUN + 90_000 }),
		]);
		const stopping = { state: "stopping", since: BEGUN - 90_000 } as const;
		seen = look(seen, 2_000, [nodeStatus("a", stopping)]);
		seen = look(seen, 3_000, [nodeStatus("a", { since: BEGUN + 2_500 })]);
		expect(rowsAt(seen).a).toEqual([
			"stopping 1 1000..2500",
			"running 1 2500..",
		]);
	});

	const view = { round: roundRecord({ instance: 7, synced: 1 }), seat: null };
	const running: AgentState = {
		...{ phase: "RUNNING", instance: 7, failure: null, failuresReported: 0 },
		...{ view, round: 1, seat: seatRecord("a"), workers: [] },
	};

	it("has one bar of its own node, also where the history has it run a moment later", () => {
		let seen = NOTHING_SEEN;
		for (const at of [1_100, 1_150]) {
			seen = seeAgent(seen, "a", running, BEGUN + at);
		}
		const next: Next = {
			kind: "leave",
			exitCode: 0,
			reason: "",
			leaveBy: null,
		};
		const leaving: AgentState = {
			...running,
			phase: "STOPPING",
			claim: 2,
			next,
		};
		seen = seeAgent(seen, "a", leaving, BEGUN + 8_000);
		const [first] = ROUNDS;
		const told = historyOf(first ? [{ ...first, endedAt: null }] : []);
		const timeline = timelineOf(runStatus({ round: 1 }), told, seen);
		expect(inWords(timeline?.nodes[0]?.spans)).toEqual([
			"joining 1 0..1100",
			"running 1 1100..8000",
			"leaving 1 8000..",
		]);
	});

	it("tells of its own node what that says, not what the store still has", () => {
		let seen = seeAgent(NOTHING_SEEN, "a", INITIAL_STATE, BEGUN);
		expect(seen).toBe(NOTHING_SEEN);
		seen = seeAgent(
			seen,
			"a",
			{ ...INITIAL_STATE, view, instance: 7, claim: 1 },
			BEGUN,
		);
		seen = seeAgent(seen, "a", running, BEGUN + 40);
		seen = look(seen, 60, [
			nodeStatus("a", { state: "ready", workerPids: [] }),
		]);
		seen = seeAgent(
			seen,
			"a",
			{ ...running, phase: "STOPPING", claim: 2, next: { kind: "rejoin" } },
			BEGUN + 500,
		);
		expect(rowsAt(seen).a).toEqual([
			"joining 1 0..40",
			"running 1 40..500",
			"stopping 1 500..",
		]);
	});

	it("forgets what it saw of an earlier start of the run", () => {
		const seen = look(NOTHING_SEEN, 0, [nodeStatus("old")]);
		const later = look(seen, 100, [nodeStatus("new")], { instance: 8 });
		expect(rowsAt(later, { instance: 8 })).toEqual({
			new: [expect.anything()],
		});
	});

	it("ends what goes on with the run", () => {
		const seen = look(NOTHING_SEEN, 3_000, [
			nodeStatus("a", { since: BEGUN + 1_000 }),
		]);
		const outcome = {
			...({ result: "succeeded", exitCode: 0, root: null } as const),
			...{ reason: "all workers succeeded", endedAt: BEGUN + 3_000 },
		};
		expect(rowsAt(seen, { outcome })).toEqual({ a: ["running 1 1000..3000"] });
	});
});

describe("the time line", () => {
	it("is nothing before the run is known", () => {
		expect(timelineOf(undefined, undefined, NOTHING_SEEN)).toBeUndefined();
	});

	it("is the history's where nobody looked, with its rounds and what ended them", () => {
		const told = historyOf(ROUNDS);
		const status = runStatus({ nodes: [nodeStatus("c"), nodeStatus("a")] });
		const timeline = timelineOf(status, told, NOTHING_SEEN);
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
		const timeline = timelineOf(status, historyOf(ROUNDS), NOTHING_SEEN);
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
		const timeline = timelineOf(status, historyOf(ROUNDS), NOTHING_SEEN);
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
		const { incidents } =
			timelineOf(runStatus(), historyOf(rounds), NOTHING_SEEN) ?? {};
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
			runStatus({ nodes }),
			historyOf(rounds),
			NOTHING_SEEN,
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
