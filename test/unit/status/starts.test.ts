import { expect, it } from "vitest";
import type { Starts } from "../../../src/model/start.js";
import type { LedgerRecord } from "../../../src/rendezvous/records/ledger-record.js";
import {
	type NodeStart,
	savedBy,
	savedByAll,
	startsOfRound,
} from "../../../src/status/starts.js";
import { ledgerRecord } from "../../helpers/ledger-record.js";

const COLD: Starts & Pick<NodeStart, "kind"> = {
	...{ warm: 0, cold: 2, reason: "no step was made before" },
	kind: "first",
};
const WARM = { warm: 2, cold: 0 };

/** @param toFirst until its first step; undefined: it made none */
function record(
	round: number,
	starts: Starts | undefined,
	toFirst: number | undefined,
	nodeId = "a",
): LedgerRecord {
	const made = { first: 1, furthest: { step: 5, source: "hook" } } as const;
	const steps = toFirst === undefined ? null : { ...made, newAt: null };
	return ledgerRecord({
		...{ nodeId, round, starts, startedAt: 1_000 },
		steps: steps && { ...steps, firstAt: 1_000 + (toFirst ?? 0) },
	});
}

const savedIn = (round: number, ...records: readonly LedgerRecord[]) =>
	startsOfRound(records, round).map(({ savedMs }) => savedMs);

it("says of each node how it started, why cold, and what the warmth has saved", () => {
	const records = [
		record(1, COLD, 5_000),
		record(2, WARM, 300),
		record(2, COLD, 4_000, "b"),
	];
	expect(startsOfRound(records, 2)).toEqual([
		{
			...{ nodeId: "a", ...WARM, reason: null, kind: null },
			...{ toFirstMs: 300, savedMs: 4_700 },
		},
		{ nodeId: "b", ...COLD, toFirstMs: 4_000, savedMs: null },
	]);
});

it("compares with the last cold start of the same node that made a step", () => {
	const old = record(1, COLD, 9_000);
	const now = record(4, WARM, 1_000);
	expect(savedIn(4, old, record(2, COLD, 5_000), now)).toEqual([4_000]);
	expect(savedIn(4, old, record(3, COLD, undefined), now)).toEqual([8_000]);
	expect(savedIn(4, record(1, COLD, 9_000, "b"), now)).toEqual([null]);
	expect(savedIn(4, old, record(4, WARM, undefined))).toEqual([null]);
	expect(savedIn(4, old, record(4, { ...COLD, warm: 1 }, 20))).toEqual([null]);
});

it("says nothing of a launcher that starts nothing warm", () => {
	expect(startsOfRound([record(2, undefined, 20)], 2)).toEqual([]);
});

it("adds up what rounds have saved, each as much as its slowest node", () => {
	const start = (change: Partial<NodeStart>): NodeStart => ({
		...{ nodeId: "a", warm: 2, cold: 0, reason: null, kind: null },
		...{ toFirstMs: 300, savedMs: 4_000, ...change },
	});
	const slow = start({ nodeId: "b", savedMs: 3_000 });
	const cold = start({ warm: 0, cold: 2, savedMs: null });
	expect(savedBy([start({}), slow])).toBe(3_000);
	expect(savedBy([start({}), cold])).toBe(null);
	expect(savedBy([start({ savedMs: null })])).toBe(null);
	expect(savedBy([])).toBe(null);
	const worse = start({ savedMs: -500 });
	const rounds = [[cold], [start({}), slow], [], [worse]];
	expect(savedByAll(rounds.map((starts) => ({ starts })))).toBe(2_500);
	expect(savedByAll([{ starts: [cold] }])).toBe(null);
});
