import { describe, expect, it } from "vitest";
import type { LedgerRecord } from "../../../src/model/ledger.js";
import type { RoundSteps } from "../../../src/model/step.js";
import type { HistoryRecord } from "../../../src/rendezvous/records/history-record.js";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type {
	NodeRecord,
	RoundRecord,
} from "../../../src/rendezvous/records/records.js";
import { describeHistory, repairsToStep } from "../../../src/status/history.js";
import { measureRounds, phasesOf } from "../../../src/status/round-times.js";
import { ledgerRecord } from "../../helpers/ledger-record.js";
import { snapshotOf } from "../../helpers/run-snapshot.js";
import {
	failureRecord,
	historyRecord,
	nodeRecord,
	roundRecord,
	seatRecord,
} from "../../helpers/run-view.js";

const KEYS = new RunKeys("r");
const cause = (kind: RoundRecord["cause"]["kind"], timestamp?: number) => ({
	kind,
	changeEvent: null,
	reason: kind,
	root: timestamp === undefined ? null : failureRecord("a", { timestamp }),
});

describe("the phases of a round", () => {
	const none = {
		...{ noticeMs: null, stopMs: null, readyMs: null },
		...{ barrierMs: null, startMs: null, totalMs: null },
	};
	it.each<[string, Partial<HistoryRecord>, object]>([
		[
			"after a failure, each from the one before",
			{
				cause: cause("failure", 90),
				...{ begunAt: 100, stoppedAt: 130, readyAt: 150, liftedAt: 151 },
				startedAt: 201,
			},
			{
				...{ noticeMs: 10, stopMs: 30, readyMs: 20, barrierMs: 1 },
				...{ startMs: 50, totalMs: 111 },
			},
		],
		[
			"after a failure that was seen late: its node stopped meanwhile",
			{
				cause: cause("failure", 90),
				...{ begunAt: 3_000, stoppedAt: 130, readyAt: 3_010 },
				...{ liftedAt: 3_011, startedAt: 3_061 },
			},
			{
				...{ ...none, noticeMs: 2_910, readyMs: 10, barrierMs: 1 },
				...{ startMs: 50, totalMs: 2_971 },
			},
		],
		[
			"of a first round: nobody had to stop",
			{ begunAt: 100, readyAt: 150, liftedAt: 150, startedAt: 160 },
			{ ...none, readyMs: 50, barrierMs: 0, startMs: 10, totalMs: 60 },
		],
		[
			"where a node's clock goes wrong: what contradicts the others is not known",
			{
				cause: cause("failure", 500),
				...{ begunAt: 100, stoppedAt: 700, readyAt: 150, liftedAt: 151 },
				startedAt: 201,
			},
			{ ...none, stopMs: 600, barrierMs: 1, startMs: 50, totalMs: 101 },
		],
	])("%s", (_, line, phases) => {
		expect(phasesOf(historyRecord(line))).toEqual(phases);
	});

	it.each([
		["before that round was lifted: a clock goes wrong", 3_999, null],
		["in that round, or nearly so", 4_000, 2_000],
	])("after a failure that says it was %s", (_, timestamp, noticeMs) => {
		const before = historyRecord({ liftedAt: 5_000 });
		const line = historyRecord({
			cause: cause("failure", timestamp),
			begunAt: 6_000,
		});
		expect(phasesOf(line, before)).toMatchObject({ noticeMs });
	});
});

describe("C6 repairs", () => {
	const made = (
		round: number,
		{ newAt, ...change }: Partial<RoundSteps> & { newAt: number | null },
	) =>
		ledgerRecord({
			...{ nodeId: "a", round, startedAt: 0 },
			steps: {
				...{ first: 1, furthest: { step: 9, source: "report" } },
				...{ firstAt: 3_500, newAt, ...change },
			},
		});
	const rounds = [
		historyRecord({ round: 1, begunAt: 0, startedAt: 100, endedAt: 1_000 }),
		historyRecord({
			...{ round: 2, cause: cause("failure"), begunAt: 1_000 },
			startedAt: 3_000,
		}),
	];

	it.each<[string, readonly LedgerRecord[], object | undefined]>([
		["none is known without steps", [], undefined],
		[
			"one ends with the first step beyond those before",
			[made(1, { newAt: 200 }), made(2, { newAt: 35_100 })],
			{ count: 1, meanMs: 34_100, longestMs: 34_100 },
		],
		[
			"one goes on while steps are made again",
			[made(1, { newAt: 200 }), made(2, { newAt: null })],
			{ count: 0, meanMs: null, longestMs: null },
		],
		[
			"one ends with any step where numbers cannot be compared",
			[made(2, { newAt: null, isUnsure: true })],
			{ count: 1, meanMs: 2_500, longestMs: 2_500 },
		],
	])("to a step: %s", (_, records, toStep) => {
		expect(repairsToStep(rounds, records)).toEqual(toStep);
	});
});

describe("what rounds add up to", () => {
	const first = historyRecord({ begunAt: 0, startedAt: 100, endedAt: 1_000 });
	const following = (
		kind: RoundRecord["cause"]["kind"],
		begunAt: number,
		startedAt: number | null,
		endedAt: number | null,
	) => historyRecord({ cause: cause(kind), begunAt, startedAt, endedAt });

	it.each<[string, HistoryRecord[], number | null, object]>([
		[
			"a failure and a lost node; newcomers are no repair",
			[
				first,
				following("failure", 1_000, 1_100, 2_000),
				following("scale-down", 2_000, 2_300, 3_000),
				following("scale-up", 3_000, 3_900, 4_000),
			],
			null,
			{
				repairs: { count: 2, meanMs: 200, longestMs: 300 },
				...{ ranMs: 2_600, ranOf: [900, 900, 700, 100] },
			},
		],
		[
			"one that fails before all of it ran belongs to the same repair",
			[
				first,
				following("failure", 1_000, null, 1_200),
				following("scale-up", 1_200, 1_500, null),
			],
			1_700,
			{
				repairs: { count: 1, meanMs: 500, longestMs: 500 },
				...{ ranMs: 1_100, ranOf: [900, null, 200] },
			},
		],
		[
			"a repair that goes on is none yet; of a round whose end nobody saw nothing is known",
			[
				historyRecord({ begunAt: 0, startedAt: 100 }),
				following("failure", 1_000, null, null),
			],
			null,
			{
				repairs: { count: 0, meanMs: null, longestMs: null },
				...{ ranMs: 0, ranOf: [null, null] },
			},
		],
	])("%s", (_, rounds, now, measured) => {
		expect(measureRounds(rounds, now)).toEqual(measured);
	});
});

describe("a run's history", () => {
	const NOW = 10_000;
	const history = (
		round: Partial<RoundRecord>,
		lines: readonly HistoryRecord[],
		nodes: readonly NodeRecord[] = [],
	) =>
		describeHistory(
			"r",
			snapshotOf({
				[KEYS.round]: roundRecord({ instance: 7, ...round }),
				...Object.fromEntries(
					lines.map((line) => [KEYS.historyOf(line.round), line]),
				),
				...Object.fromEntries(
					nodes.map((node) => [KEYS.node(node.nodeId), node]),
				),
				[KEYS.seat("a")]: seatRecord("a"),
			}),
			NOW,
		);
	const RUNNING = { synced: 1, planId: "plan-1", seats: 1 };
	const line = historyRecord({ instance: 7, begunAt: 1_000, liftedAt: 1_500 });
	const running = nodeRecord("a", {
		...{ instance: 7, state: "running", since: 2_000 },
	});

	it("of a run that runs: its members say since when, and it counts until now", () => {
		expect(history(RUNNING, [line], [running])?.instances).toMatchObject([
			{
				...{ instance: 7, begunAt: 1_000, endedAt: null, outcome: null },
				...{ ranMs: 8_000, elapsedMs: 9_000, ranShare: 8 / 9 },
				rounds: [{ round: 1, startedAt: 2_000, phases: { startMs: 500 } }],
			},
		]);
	});

	it("of a run that ended", () => {
		const outcome = {
			...({ result: "stopped", exitCode: 5, reason: "stopped" } as const),
			...{ root: null, endedAt: 6_000 },
		};
		const over = { ...line, startedAt: 2_000, endedAt: 5_000 };
		expect(
			history({ ...RUNNING, deprecated: 1, incidents: 2, outcome }, [over])
				?.instances,
		).toMatchObject([
			{
				...{ endedAt: 6_000, elapsedMs: 5_000, ranMs: 3_000, ranShare: 0.6 },
				...{ outcome: { result: "stopped", reason: "stopped" }, incidents: 2 },
			},
		]);
	});

	it("of a run that nobody is left of, and of its start before", () => {
		const before = historyRecord({
			...{ instance: 3, round: 1, begunAt: 100, startedAt: 200 },
			...{ endedAt: 700, ending: "all nodes have finished" },
			outcome: "succeeded",
		});
		const lost = { ...line, round: 2 };
		const round = { ...RUNNING, synced: 2, deprecated: 1 };
		expect(history(round, [before, lost])?.instances).toMatchObject([
			{ instance: 3, endedAt: 700, outcome: { result: "succeeded" } },
			{ instance: 7, endedAt: null, elapsedMs: null, ranShare: null },
		]);
	});

	it("of a run that forms, before its first round", () => {
		const node = nodeRecord("a", { instance: 7 });
		expect(history({}, [], [node])?.instances).toMatchObject([
			{ instance: 7, begunAt: 7, rounds: [], ranMs: 0, ranShare: 0 },
		]);
	});
});
