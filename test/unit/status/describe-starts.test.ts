import { describe, expect, it } from "vitest";
import { RunKeys } from "../../../src/rendezvous/records/keys.js";
import type { LedgerRecord } from "../../../src/rendezvous/records/ledger-record.js";
import { encodeRecord } from "../../../src/rendezvous/records/record-codec.js";
import { StartsReader } from "../../../src/status/describe-run.js";
import type { Entry } from "../../../src/store/store.js";
import { ledgerRecord } from "../../helpers/ledger-record.js";

const KEYS = new RunKeys("r");
const COLD = { warm: 0, cold: 2, reason: "…", kind: "first" } as const;
const WARM = { warm: 2, cold: 0 };
const NEXT = { start: "warm", modules: 3, bytes: 7 } as const;
const NODE = { nodeId: "a", pid: 77 };

function read(
	records: readonly Partial<LedgerRecord>[],
	{ node = NODE as { nodeId: string; pid: number | null }, synced = 2 } = {},
) {
	const warned: string[] = [];
	const entries = records.map((change): [string, Entry] => {
		const record = ledgerRecord({ instance: 7, ...change });
		const key = KEYS.ledgerOf(record.round, record.nodeId);
		const value = encodeRecord(record);
		const revisions = { createRevision: 1, modRevision: 1 };
		return [key, { key, value, lease: null, ...revisions }];
	});
	const snapshot = { revision: 9, entries: new Map(entries) };
	const reader = new StartsReader(KEYS, snapshot, (told) => warned.push(told));
	const told = reader.of(node, { instance: 7, synced });
	expect(warned).toEqual([]);
	return told;
}

describe("how a node started its workers in the newest round", () => {
	const first = { round: 1, starts: COLD };
	const second = { round: 2, starts: WARM, nextStart: NEXT };

	it("is what its newest record says", () => {
		expect(read([second])).toEqual({ starts: WARM, nextStart: NEXT });
		expect(read([second, { ...first, nodeId: "b", round: 3 }])).toEqual({
			...{ starts: WARM, nextStart: NEXT },
		});
	});

	it("is unknown until the round has a record, and for another start of the run", () => {
		expect(read([first])).toEqual({});
		expect(read([{ ...second, instance: 6 }])).toEqual({});
		expect(read([])).toEqual({});
	});

	it("has what a warm one saved, against the last cold one of this start of the run that made a step", () => {
		const steps = { ...ledgerRecord().steps, firstAt: 5_100 };
		const slow = { ...first, steps } as Partial<LedgerRecord>;
		const third = { ...second, round: 3 };
		const at3 = { synced: 3 };
		const saved = { starts: { ...WARM, savedMs: 4_900 }, nextStart: NEXT };
		expect(read([slow, second])).toEqual(saved);
		expect(read([slow, second, third], at3)).toEqual(saved);
		const stepless = { ...second, starts: COLD, steps: null };
		expect(read([slow, stepless, third], at3)).toEqual(saved);
		for (const records of [
			[{ ...slow, instance: 6 }, second],
			[slow, { ...second, steps: null }],
		]) {
			expect(read(records)).toEqual({ starts: WARM, nextStart: NEXT });
		}
	});

	it("has no next start for a node that has left, or has no agent", () => {
		expect(read([{ ...second, leftAt: 900 }])).toEqual({ starts: WARM });
		const node = { nodeId: "a", pid: null };
		expect(read([second], { node })).toEqual({ starts: WARM });
	});
});
