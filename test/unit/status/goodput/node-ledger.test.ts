import { describe, expect, it } from "vitest";
import type { HistoryRecord } from "../../../../src/rendezvous/records/history-record.js";
import type { LedgerRecord } from "../../../../src/rendezvous/records/ledger-record.js";
import type { RoundCause } from "../../../../src/rendezvous/records/records.js";
import {
	CATEGORY_NAMES,
	type Spent,
	totalSpent,
} from "../../../../src/status/goodput/categories.js";
import {
	type NodeAccount,
	nodeLedger,
	type Story,
} from "../../../../src/status/goodput/node-ledger.js";
import { toldUntil } from "../../../../src/status/goodput/read-ledger.js";
import { ledgerRecord, stage, stages } from "../../../helpers/ledger-record.js";
import { failureRecord, historyRecord } from "../../../helpers/run-view.js";
import { seededRandom } from "../../../helpers/seeded-random.js";

const cause = (
	kind: RoundCause["kind"],
	root: RoundCause["root"] = null,
): RoundCause => ({ kind, changeEvent: null, reason: kind, root });

/** Round 1: all ready at 80, lifted at 90, seen to run at 110, left at 1,000. */
const line = (change: Partial<HistoryRecord> = {}) =>
	historyRecord({
		...{ members: ["a", "b"], begunAt: 0, readyAt: 80, liftedAt: 90 },
		...{ startedAt: 110, endedAt: 1_000, ...change },
	});

/** Round 2, after the first. */
const next = (change: Partial<HistoryRecord> = {}) =>
	line({
		...{ round: 2, begunAt: 1_000, stoppedAt: 1_100, readyAt: 1_300 },
		...{ liftedAt: 1_400, startedAt: 1_500, endedAt: null, ...change },
	});

const secondRecord = (change: Partial<LedgerRecord> = {}) =>
	ledgerRecord({
		...{ round: 2, startedAt: 1_450, ranUntil: null, stoppedAt: null },
		...{ writtenAt: 2_000, stages: stages({ fresh: stage(550) }) },
		...change,
	});

const story = (lines: readonly HistoryRecord[], rest: Partial<Story> = {}) => ({
	...{ lines, root: null, countsSteps: true, stragglerMs: new Map(), ...rest },
});

it.each<[string, LedgerRecord | undefined, number, number]>([
	["its last record while it makes steps", secondRecord(), 9_000, 2_000],
	["now if it has been silent for long", secondRecord(), 60_000, 60_000],
	["now while it runs no worker", ledgerRecord(), 9_000, 9_000],
	[
		"now where nobody counts steps",
		secondRecord({ steps: null }),
		9_000,
		9_000,
	],
	["now if its clock is ahead", secondRecord(), 1_000, 1_000],
	["now without a record", undefined, 9_000, 9_000],
])("P4 the time of a node that is there is divided until %s", (_, last, now, until) => {
	expect(toldUntil(last, now)).toBe(until);
});

function ledger(
	records: readonly LedgerRecord[],
	to: number,
	told: Story,
): Partial<Spent> {
	const account: NodeAccount = { nodeId: "a", from: 0, to, records };
	const spent = nodeLedger(account, told);
	expect(totalSpent(spent)).toBe(to);
	const some = CATEGORY_NAMES.filter((name) => spent[name] > 0);
	return Object.fromEntries(some.map((name) => [name, spent[name]]));
}

const INTO = { "waiting-for-nodes": 80, agreeing: 10 };
const failed = cause("failure", failureRecord("b", { timestamp: 850 }));

describe("the ledger of a node", () => {
	it.each<[string, readonly LedgerRecord[], number, Story, object]>([
		[
			"has saving and loading apart from the stages in which they happen",
			[
				ledgerRecord({
					stages: stages({
						...{ start: stage(100, 0, 60), again: stage(200, 20) },
						...{ fresh: stage(400, 100), open: stage(0, 50) },
					}),
				}),
			],
			900,
			story([line({ endedAt: null })]),
			{
				...{ ...INTO, startup: 50, loading: 60, saving: 170 },
				...{ repeated: 180, productive: 300, unknown: 50 },
			},
		],
		[
			"takes what waited for a slow rank out of all steps alike, but no more than there is",
			[
				ledgerRecord({
					stages: stages({
						...{ start: stage(100), again: stage(200) },
						fresh: stage(400, 100),
					}),
				}),
			],
			900,
			story([line({ endedAt: null })], { stragglerMs: new Map([[1, 250]]) }),
			{
				...{ ...INTO, startup: 110, saving: 100, straggler: 250 },
				...{ repeated: 100, productive: 150, unknown: 100 },
			},
		],
		[
			"knows nothing of a run that shows no steps",
			[ledgerRecord({ steps: null, stages: stages() })],
			900,
			story([line({ endedAt: null })], { countsSteps: false }),
			{ ...INTO, startup: 10, unknown: 800 },
		],
		[
			"calls it start-up if other rounds or nodes show steps",
			[ledgerRecord({ steps: null, stages: stages() })],
			900,
			story([line({ endedAt: null })]),
			{ ...INTO, startup: 810 },
		],
		[
			"detects from the first sign of another node's failure, then goes through the phases of the next round",
			[
				ledgerRecord({
					stages: stages({ start: stage(100), fresh: stage(600) }),
				}),
				secondRecord(),
			],
			2_000,
			story([line(), next({ cause: failed })]),
			{
				// A step was interrupted at 850; from 910 to 1,000 the coordinator had not seen that.
				...{ unknown: 50, detecting: 50 + 90 },
				stopping: 10 + 100,
				"waiting-for-nodes": 80 + 200,
				agreeing: 10 + 100,
				startup: 110 + 50,
				productive: 600 + 550,
			},
		],
		[
			"detects a hang since the last step",
			[
				ledgerRecord({
					stages: stages({ start: stage(100), fresh: stage(200) }),
				}),
			],
			900,
			story([line({ endedAt: 900, outcome: "failed", noticedAfterMs: 10 })], {
				root: failureRecord("a", { evidence: ["stack"] }),
			}),
			{ ...INTO, startup: 110, productive: 200, detecting: 500 },
		],
		[
			"is idle once its workers have succeeded, and others have not",
			[ledgerRecord({ after: "finished", stoppedAt: 900 })],
			1_000,
			story([line({ outcome: "succeeded" })]),
			{ ...INTO, startup: 110, productive: 700, idle: 100 },
		],
		[
			"is paused while its workers are kept",
			[ledgerRecord({ after: "paused" }), secondRecord()],
			2_000,
			story([line({ endedAt: 900 }), next({ begunAt: 900 })]),
			{
				...{ ...INTO, startup: 110, productive: 700 + 550 },
				...{ stopping: 10, paused: 540 },
			},
		],
		[
			"is idle as a spare",
			[ledgerRecord({ round: 2, startedAt: null, ranUntil: null })],
			500,
			story([line({ members: ["b"], endedAt: null })]),
			{ ...INTO, idle: 410 },
		],
		[
			"of a killed launcher is unknown since its last record, until the first sign",
			[
				ledgerRecord({
					...{ writtenAt: 600, ranUntil: null, stoppedAt: null },
					stages: stages({ start: stage(100), fresh: stage(400) }),
				}),
				secondRecord({ arrivedAt: 1_250 }),
			],
			2_000,
			story([
				line({ noticedAfterMs: 300 }),
				next({
					cause: { ...cause("scale-down"), noticedAfterMs: 300 },
					stoppedAt: null,
				}),
			]),
			{
				...{ unknown: 100, detecting: 300 },
				...{ "waiting-for-nodes": 80 + 300, agreeing: 10 + 100 },
				...{ startup: 110 + 50, productive: 400 + 550 },
			},
		],
	])("%s", (_, records, to, told, spent) => {
		expect(ledger(records, to, told)).toEqual(
			Object.fromEntries(Object.entries(spent).filter(([, ms]) => ms > 0)),
		);
	});

	it("adds up to the time, whatever the records say", () => {
		for (let seed = 1; seed <= 2_000; seed++) {
			const random = seededRandom(seed);
			const at = () => Math.round(random() * 3_000);
			const maybe = <T>(value: T) => (random() < 0.3 ? null : value);
			const any = () => stage(at(), Math.round(at() / 4), Math.round(at() / 4));
			const records = [1, 2, 3].map((round) =>
				ledgerRecord({
					...{ round, startedAt: maybe(at()), ranUntil: maybe(at()) },
					...{ stoppedAt: maybe(at()), writtenAt: at(), arrivedAt: at() },
					...(random() < 0.3 ? { after: "paused" as const } : {}),
					...(random() < 0.3 ? { after: "finished" as const } : {}),
					stages: {
						...{ start: any(), again: any(), fresh: any() },
						...{ unsure: any(), open: any() },
					},
				}),
			);
			const lines = [1, 2, 3].map((round) =>
				line({
					...{ round, begunAt: maybe(at()), stoppedAt: maybe(at()) },
					...{ readyAt: at(), liftedAt: at(), endedAt: maybe(at()) },
					...{ startedAt: maybe(at()) },
					cause: cause(random() < 0.5 ? "failure" : "scale-up"),
				}),
			);
			const from = at();
			const account = { nodeId: "a", from, to: from + at(), records };
			const spent = nodeLedger(account, story(lines));
			expect(totalSpent(spent), `seed ${seed}`).toBeCloseTo(
				account.to - account.from,
			);
			expect(Math.min(...Object.values(spent))).toBeGreaterThanOrEqual(0);
		}
	});
});
