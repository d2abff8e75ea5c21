import { describe, expect, it } from "vitest";
import { othersNow } from "../../../src/hangs/others.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const progress = (
	nodeId: string,
	stepAt: number,
	change: Partial<ProgressRecord> = {},
): ProgressRecord => ({
	...{ version: 1, nodeId, instance: 1, round: 1 },
	workers: [{ localRank: 0, step: 9, source: "report", stepAt, rate: null }],
	...change,
});

/** What node a, which made its last step at 10,000, knows of the others. */
const at = (records: readonly ProgressRecord[], limitMs = 600_000) => {
	const found = new Map(records.map((one) => [one.nodeId, one]));
	return othersNow(
		{ read: async () => found },
		{ clock: new VirtualClock(), nodeId: "a", instance: 1, round: 1 },
		{ stillSince: 10_000, limitMs, withinMs: 1_000 },
	);
};

describe("what others do while a node stands still", () => {
	it.each<[string, number, number, readonly string[]]>([
		["makes steps where its last one is much later", 160_001, 600_000, ["b"]],
		["may wait where it is a step or a clock ahead", 160_000, 600_000, []],
		["may wait where its steps are noticed late", 12_000, 4_000, []],
		["makes steps with a short limit too", 12_001, 4_000, ["b"]],
	])("A5 one %s", async (_, stepAt, limitMs, moving) => {
		const records = [progress("a", 900_000), progress("b", stepAt)];
		const earlier = progress("c", 900_000, { round: 0 });
		const others = await at([...records, earlier], limitMs);
		expect(others.moving).toEqual(moving);
	});

	it("A4 tells whether one has made a step in this round, however long ago", async () => {
		const waits = progress("c", 1, { workers: [] });
		const earlier = progress("d", 1, { round: 0 });
		const own = progress("a", 1);
		const others = await at([own, waits, earlier]);
		expect(others.haveStepped).toBe(false);
		expect((await at([own, progress("b", 1)])).haveStepped).toBe(true);
	});

	it("A5 is busy until the last one that has said so, itself left out", async () => {
		const own = progress("a", 1, { busyUntil: 99 });
		const others = [progress("b", 1, { busyUntil: 7 }), progress("c", 1)];
		expect(await at([own, ...others])).toMatchObject({ busyUntil: 7 });
		expect(await at([])).toMatchObject({ busyUntil: 0 });
	});
});
