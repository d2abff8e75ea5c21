import { describe, expect, it } from "vitest";
import {
	type HangLimits,
	judgeStandstill,
	type WatchedWorker,
} from "../../../src/progress/hang-rule.js";
import { noteMove } from "../../../src/progress/movement.js";

const NEVER = Number.NEGATIVE_INFINITY;
/** Too few steps to learn from. */
const FOUR = [1_000, 1_100, 1_200, 1_300];
const LIMITS: HangLimits = { hangMs: 60_000, startMs: 0 };

/** A worker started at 0 that made these steps, one number higher each. */
function worker(
	localRank: number,
	stepsAt: readonly number[],
	{ since = 0, busyUntil = NEVER } = {},
): WatchedWorker {
	const movement = stepsAt.reduce<WatchedWorker["movement"]>(
		(before, at) => noteMove(before, at, false),
		undefined,
	);
	return { localRank, since, movement, busyUntil };
}

describe("a standstill", () => {
	it.each<
		[string, readonly WatchedWorker[], Partial<HangLimits>, number, object]
	>([
		[
			"is none before the first step",
			[worker(0, []), worker(1, [])],
			{},
			3_600_000,
			{ kind: "fine" },
		],
		[
			"is none while one worker makes steps",
			[worker(0, [1_000]), worker(1, [1_000, 70_000])],
			{},
			100_000,
			{ kind: "fine" },
		],
		[
			"begins when the last worker's last step is as old as the limit",
			[worker(0, [1_000]), worker(1, [1_000, 70_000])],
			{},
			130_000,
			{ kind: "still", stillMs: 60_000, limitMs: 60_000 },
		],
		[
			"is one although a worker has made no step, if another has",
			[worker(0, []), worker(1, [1_000])],
			{},
			61_000,
			{ kind: "still" },
		],
		[
			"is none while a worker is busy, and counts from then",
			[worker(0, [1_000], { busyUntil: 500_000 }), worker(1, [2_000])],
			{},
			499_000,
			{ kind: "fine" },
		],
		[
			"counts from the end of what was announced",
			[worker(0, [1_000], { busyUntil: 500_000 })],
			{},
			501_000,
			{ kind: "fine" },
		],
		[
			"is never one with 0",
			[worker(0, [1_000])],
			{ hangMs: 0 },
			9_000_000,
			{ kind: "fine" },
		],
		[
			"needs a minute at least where the limit is learned",
			[worker(0, [...FOUR, 2_000])],
			{ hangMs: "auto" },
			61_999,
			{ kind: "fine" },
		],
		[
			"is one after a minute where the limit is learned from short steps",
			[worker(0, [...FOUR, 2_000])],
			{ hangMs: "auto" },
			62_000,
			{ kind: "still", limitMs: 60_000 },
		],
		[
			"needs five times the longest step where the limit is learned",
			[worker(0, [0, 100_000, 100_100, 100_200, 101_000])],
			{ hangMs: "auto" },
			600_999,
			{ kind: "fine" },
		],
		[
			"is one after five times the longest step where the limit is learned",
			[worker(0, [0, 100_000, 100_100, 100_200, 101_000])],
			{ hangMs: "auto" },
			601_000,
			{ kind: "still", limitMs: 500_000 },
		],
		[
			"needs ten minutes where the limit is to be learned from too few steps",
			[worker(0, FOUR)],
			{ hangMs: "auto" },
			601_299,
			{ kind: "fine" },
		],
		[
			"at the start is none without a limit for it",
			[worker(0, [])],
			{ startMs: 0 },
			9_000_000,
			{ kind: "fine" },
		],
		[
			"at the start names the worker that has waited longest",
			[worker(0, [], { since: 5_000 }), worker(1, [])],
			{ startMs: 30_000 },
			30_000,
			{ kind: "no-first-step", localRank: 1, stillMs: 30_000 },
		],
	])("A4 %s", (_, workers, limits, now, expected) => {
		const judged = judgeStandstill(
			workers,
			{ ...LIMITS, ...limits },
			true,
			now,
		);
		expect(judged).toMatchObject(expected);
	});

	it("A4 at the start is none where no worker of the node ever counted steps", () => {
		const limits = { ...LIMITS, startMs: 30_000 };
		expect(judgeStandstill([worker(0, [])], limits, false, 99_000)).toEqual({
			kind: "fine",
		});
	});
});
