import { describe, expect, it } from "vitest";
import type { LedgerRecord } from "../../../src/rendezvous/records/ledger-record.js";
import { stepsOfRound } from "../../../src/status/history.js";
import { ledgerRecord } from "../../helpers/ledger-record.js";
import { historyRecord } from "../../helpers/run-view.js";

const LINE = historyRecord({ round: 2, begunAt: 1_000 });

function record(
	before: number | null,
	[first, step]: readonly [number, number],
	change: Partial<LedgerRecord> = {},
	isUnsure = false,
): LedgerRecord {
	const source = "report" as const;
	return ledgerRecord({
		...{ round: 2, before: before === null ? null : { step: before, source } },
		steps: {
			...{ first, furthest: { step, source }, firstAt: 1_700, newAt: null },
			...(isUnsure && { isUnsure }),
		},
		...change,
	});
}

describe("the steps of a round", () => {
	it.each<[string, readonly LedgerRecord[], object | null]>([
		["are unknown without a record", [], null],
		["are unknown without a step", [record(9, [1, 1], { steps: null })], null],
		[
			"are all new in a first round",
			[record(null, [1, 5])],
			{ first: 1, furthest: 5, lost: null, again: null, toFirstMs: 700 },
		],
		[
			"were lost from the first one to the furthest one before",
			[record(25, [21, 40])],
			{ first: 21, furthest: 40, lost: 5, again: 5, toFirstMs: 700 },
		],
		[
			"are not all made again yet",
			[record(25, [21, 22]), record(24, [21, 23], { nodeId: "b" })],
			{ first: 21, furthest: 23, lost: 5, again: 3, toFirstMs: 700 },
		],
		[
			"were not lost where the round went on from there",
			[record(25, [26, 30])],
			{ first: 26, furthest: 30, lost: 0, again: 0, toFirstMs: 700 },
		],
		[
			"cannot be compared with others",
			[record(25, [1, 4], {}, true)],
			{ first: 1, furthest: 4, lost: null, again: null, toFirstMs: 700 },
		],
	])("%s", (_, records, steps) => {
		const others = ledgerRecord({ round: 1 });
		expect(stepsOfRound([others, ...records], LINE)).toEqual(steps);
	});
});
