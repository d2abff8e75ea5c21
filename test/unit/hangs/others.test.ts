import { describe, expect, it } from "vitest";
import { othersJoin, othersNow } from "../../../src/hangs/others.js";
import type {
	EvidenceRecord,
	RankEvidence,
} from "../../../src/model/evidence.js";
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

const JOINS: RankEvidence = {
	...{ rank: 2, localRank: 0, nodeId: "b", pid: 7, activity: "idle" },
	...{ frames: [], groups: [], processGroup: "joining" },
};
const EVIDENCE: EvidenceRecord = {
	...{ version: 1, instance: 1, round: 1, at: 9, ranks: [JOINS] },
};

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

	it.each<[string, Partial<EvidenceRecord>, boolean]>([
		["has said so", {}, true],
		["has said so in another round", { round: 2 }, false],
		[
			"has joined none",
			{ ranks: [{ ...JOINS, processGroup: undefined }] },
			false,
		],
	])("A4 joins a process group where it %s", async (_, change, joins) => {
		const found = new Map([["b", { ...EVIDENCE, ...change }]]);
		const clock = new VirtualClock();
		const place = { clock, nodeId: "a", instance: 1, round: 1 };
		const topic = { read: async () => found };
		const asked = othersJoin(topic, place, clock.now() + 1_000);
		const own = { ...place, nodeId: "b" };
		const askedOfItself = othersJoin(topic, own, clock.now() + 1_000);
		await clock.advance(2_000);
		expect(await asked).toBe(joins);
		expect(await askedOfItself).toBe(false);
	});

	it("A5 is busy until the last one that has said so, itself left out", async () => {
		const own = progress("a", 1, { busyUntil: 99 });
		const others = [progress("b", 1, { busyUntil: 7 }), progress("c", 1)];
		expect(await at([own, ...others])).toMatchObject({ busyUntil: 7 });
		expect(await at([])).toMatchObject({ busyUntil: 0 });
	});
});
