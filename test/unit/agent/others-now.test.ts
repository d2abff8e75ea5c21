import { describe, expect, it } from "vitest";
import { describeOthers } from "../../../src/agent/steps/others-now.js";
import type { ProgressRecord } from "../../../src/rendezvous/records/progress-record.js";

const LIMIT = 600_000;
const progress = (
	nodeId: string,
	stepAt: number,
	busyUntil?: number,
): ProgressRecord => ({
	...{ version: 1, nodeId, instance: 1, round: 1, busyUntil },
	workers: [{ localRank: 0, step: 9, source: "report", stepAt, rate: null }],
});
const at = (records: readonly ProgressRecord[], limitMs = LIMIT) =>
	describeOthers(records, { nodeId: "a", stillSince: 10_000, limitMs });

describe("what others do while a node stands still", () => {
	it.each<[string, number, number, readonly string[]]>([
		["makes steps where its last one is much later", 160_001, LIMIT, ["b"]],
		["waits as well where its last one is as old", 10_000, LIMIT, []],
		["may wait where it is a step or a clock ahead", 160_000, LIMIT, []],
		["may wait where its steps are noticed late", 12_000, 4_000, []],
		["makes steps with a short limit too", 12_001, 4_000, ["b"]],
	])("A5 one %s", (_, stepAt, limitMs, moving) => {
		const records = [progress("a", 900_000), progress("b", stepAt)];
		expect(at(records, limitMs).moving).toEqual(moving);
	});

	it("A5 is busy until the last one that has said so, itself left out", () => {
		const records = [progress("a", 1, 99), progress("b", 1, 7)];
		expect(at([...records, progress("c", 1)]).busyUntil).toBe(7);
		expect(at([]).busyUntil).toBe(0);
	});
});
