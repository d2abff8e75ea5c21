import { describe, expect, it } from "vitest";
import {
	tellWaiting,
	type WaitingMemory,
} from "../../../src/rendezvous/planner/waiting.js";
import { awaits } from "../../../src/rendezvous/records/awaited.js";
import type {
	Awaited,
	WaitingRecord,
} from "../../../src/rendezvous/records/waiting-record.js";
import { waitingInWords } from "../../../src/status/words.js";
import { roundRecord } from "../../helpers/run-view.js";

const WALL = 1_795_000_000_000;
const ROUND = { round: roundRecord({ synced: 1 }) };
const NODES = { minNodes: 2, maxNodes: 4 };
const FOR_B = awaits("members", ROUND, NODES, { here: ["a"], missing: ["b"] });
const FOR_C = awaits("members", ROUND, NODES, { here: ["b"], missing: ["c"] });

/** What is told at a time on the steady clock. */
function tell(
	now: number,
	{
		awaited = FOR_B,
		told,
		memory = null,
		until = 30_000,
	}: {
		awaited?: Awaited;
		told?: WaitingRecord | undefined;
		memory?: WaitingMemory | null;
		until?: number;
	} = {},
) {
	const time = { now, wallTime: WALL + now, instance: 7 };
	return tellWaiting(awaited, until, told, memory, time);
}

describe("what the coordinator tells of its waiting", () => {
	const first = tell(1_000);
	const told = tell(5_000, { memory: first.memory });

	it("is nothing where it may soon be over", () => {
		expect(first).toMatchObject({ write: undefined, lookAt: 5_000 });
	});

	it("is written once it has lasted, since when and until when", () => {
		expect(told.write).toEqual({
			version: 1,
			instance: 7,
			...FOR_B,
			since: WALL + 1_000,
			until: WALL + 30_000,
		});
	});

	it("is not written again while nothing changes, whatever the clocks drift", () => {
		const known = { told: told.write ?? undefined, memory: told.memory };
		const later = tell(9_000, { ...known, until: 30_400 });
		expect(later).toMatchObject({ write: undefined, lookAt: undefined });
	});

	it("is written again when it changes, but not often", () => {
		const known = { told: told.write ?? undefined, memory: told.memory };
		const soon = tell(5_500, { ...known, awaited: FOR_C });
		expect(soon).toMatchObject({ write: undefined, lookAt: 9_000 });
		expect(tell(9_000, { ...known, awaited: FOR_C }).write).toMatchObject({
			missing: { names: ["c"] },
			since: WALL + 1_000,
		});
	});

	it("is deleted when it is over, if it was told at all", () => {
		const over = (known: WaitingRecord | undefined) =>
			tellWaiting(undefined, undefined, known, told.memory, {
				now: 9_000,
				wallTime: WALL,
				instance: 7,
			});
		expect(over(told.write ?? undefined).write).toBeNull();
		expect(over(undefined).write).toBeUndefined();
	});
});

describe("in words", () => {
	const many = Array.from({ length: 12 }, (_, index) => `n${index}`);
	it.each<[Awaited, string]>([
		[FOR_B, "waiting for b: a is here; 30 s left"],
		[
			awaits("members", ROUND, NODES, { here: [], missing: ["a", "b"] }),
			"waiting for a, b: no node is here; 30 s left",
		],
		[
			awaits("minimum", ROUND, NODES, { here: ["a"], needed: 1 }),
			"waiting for 1 more node (at least 2): a is here; 30 s left",
		],
		[
			awaits("minimum", ROUND, NODES, {
				here: [],
				missing: ["b"],
				needed: 2,
			}),
			"waiting for 2 more nodes (at least 2): no node is here; missing: b; 30 s left",
		],
		[
			awaits("minimum", ROUND, NODES, {
				here: ["a", "b"],
				missing: ["c"],
				needed: 1,
			}),
			"waiting for 1 more node, because the nodes that are here have finished: a, b; missing: c; 30 s left",
		],
		[
			awaits("last-call", ROUND, NODES, { here: ["a", "b"] }),
			"last call (at most 4 nodes): a, b are here; 30 s left",
		],
		[
			awaits("newcomers", ROUND, NODES, { here: ["c"] }),
			"last call while round 1 runs: c would join; 30 s left",
		],
		[
			awaits("end", ROUND, NODES, { here: ["c"] }),
			"waiting for the end of round 1, which no node may join because one of its nodes has finished: c is here; 30 s left",
		],
		[
			awaits("last-call", ROUND, NODES, { here: many }),
			"last call (at most 4 nodes): n0, n1, n2, n3, n4, n5, n6, n7 and 4 more are here; 30 s left",
		],
	])("%#: %s", (awaited, words) => {
		expect(waitingInWords({ ...awaited, until: WALL + 29_100 }, WALL)).toBe(
			words,
		);
	});
});
