import { describe, expect, it } from "vitest";
import type { HistoryRecord } from "../../../../src/rendezvous/records/history-record.js";
import type { RoundCause } from "../../../../src/rendezvous/records/records.js";
import {
	costOf,
	describeGoodput,
} from "../../../../src/status/goodput/describe-goodput.js";
import { recoveriesOf } from "../../../../src/status/goodput/failures.js";
import type { RunAccounts } from "../../../../src/status/goodput/read-ledger.js";
import { ledgerRecord, stage, stages } from "../../../helpers/ledger-record.js";
import { failureRecord, historyRecord } from "../../../helpers/run-view.js";
import { sampleGoodput } from "../../../helpers/sample-goodput.js";

const because = (
	kind: RoundCause["kind"],
	/** When a worker failed. */
	timestamp?: number,
	isWish?: boolean,
): RoundCause => ({
	...{ kind, changeEvent: null, reason: kind, isWish },
	root: timestamp === undefined ? null : failureRecord("b", { timestamp }),
});

const line = (
	round: number,
	begunAt: number,
	cause: RoundCause,
	change: Partial<HistoryRecord> = {},
) => historyRecord({ round, begunAt, cause, liftedAt: begunAt, ...change });

/** When each round's first new step came on a node. */
const steps = (nodeId: string, newAt: Readonly<Record<number, number>>) => ({
	...{ nodeId, from: 0, to: 1 },
	records: Object.entries(newAt).map(([round, at]) =>
		ledgerRecord({
			...{ nodeId, round: Number(round) },
			steps: {
				...{ first: 1, furthest: { step: 5, source: "report" } },
				...{ firstAt: at, newAt: at },
			},
		}),
	),
});

const START = line(1, 0, because("start"));
const FAILED = line(2, 10_000, because("failure", 9_000));

describe("what failures cost", () => {
	it.each<
		[
			string,
			readonly HistoryRecord[],
			readonly RunAccounts["accounts"][number][],
			object,
		]
	>([
		[
			"the mean and the longest of several; a lost node counts from its round's end",
			[START, FAILED, line(3, 30_000, because("scale-down"))],
			[steps("a", { 1: 500, 2: 14_000, 3: 31_000 })],
			{ failures: 2, mtbfSeconds: 30, count: 2, mean: 3, longest: 5 },
		],
		[
			"one recovery of all that fails before a new step",
			[START, FAILED, line(3, 20_000, because("failure", 19_500))],
			[steps("a", { 1: 500, 3: 29_000 })],
			{ failures: 2, mtbfSeconds: 30, count: 1, mean: 20, longest: 20 },
		],
		[
			"no recovery where the run ends by a failure",
			[START, { ...FAILED, outcome: "failed" }],
			[steps("a", { 1: 500 })],
			{ failures: 2, mtbfSeconds: 30, count: 0 },
		],
		[
			"nothing where a worker only waited for another round",
			[START, line(2, 10_000, because("failure", 9_000, true))],
			[steps("a", { 1: 500, 2: 14_000 })],
			{ failures: 0, mtbfSeconds: null, count: 0 },
		],
	])("A10 is %s", (_, lines, accounts, expected) => {
		const {
			mean = null,
			longest = null,
			...rest
		} = expected as {
			mean?: number;
			longest?: number;
		};
		expect(recoveriesOf({ lines, accounts, root: null }, 60)).toEqual({
			...rest,
			...{ meanSeconds: mean, longestSeconds: longest },
		});
	});
});

describe("goodput", () => {
	it("P4 is productive time, and the effective training time has saving and slow ranks beside it", () => {
		expect(sampleGoodput()).toMatchObject({
			...{ elapsedSeconds: 200, nodeSeconds: 200 },
			ledger: { productive: 90, saving: 30, straggler: 40, startup: 40 },
			...{ goodput: 0.45, ettr: 0.8 },
			recoveries: { failures: 0, mtbfSeconds: null },
		});
	});

	it("P4 is unknown before there is time", () => {
		const nothing = describeGoodput({
			...{ runId: "r", instance: 1, begunAt: 0, endedAt: null, until: 0 },
			...{ lines: [], starts: [], root: null, countsSteps: false },
			...{ accounts: [], stragglerMs: new Map() },
		});
		expect(nothing).toMatchObject({ goodput: null, ettr: null });
	});

	it("C2 is not said of time of which nobody knows anything, and none of that is lost", () => {
		const record = ledgerRecord({
			...{ startedAt: 0, ranUntil: null, stoppedAt: null },
			stages: stages({ unsure: stage(90_000), start: stage(10_000) }),
		});
		const lines = [historyRecord({ members: ["a"], begunAt: 0 })];
		const goodput = describeGoodput({
			...{ runId: "r", instance: 1, begunAt: 0, endedAt: null, until: 100_000 },
			...{ lines, starts: [lines], root: null, countsSteps: true },
			accounts: [{ nodeId: "a", from: 0, to: 100_000, records: [record] }],
			stragglerMs: new Map(),
		});
		expect(goodput.ledger).toMatchObject({ unknown: 90, startup: 10 });
		expect(goodput).toMatchObject({ goodput: null, ettr: null });
		expect(costOf(goodput, 3_600).lost).toBeCloseTo(10, 9);
	});

	it("P4 costs the price of all node-hours; what was not productive is lost", () => {
		// 18 an hour are half a cent a second.
		const { total, lost, byCategory } = costOf(sampleGoodput(), 18);
		expect(total).toBeCloseTo(1, 9);
		expect(lost).toBeCloseTo(0.55, 9);
		expect(byCategory.productive).toBeCloseTo(0.45, 9);
		expect(byCategory.saving).toBeCloseTo(0.15, 9);
		expect(byCategory.idle).toBe(0);
	});
});
