import { describe, expect, it } from "vitest";
import { LostSteps } from "../../../src/hangs/hang-watch.js";
import {
	type HangLimits,
	judgeStandstill,
	type WatchedWorker,
} from "../../../src/hangs/standstill.js";
import { noteMove } from "../../../src/steps/worker-steps.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

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
		[
			string,
			readonly WatchedWorker[],
			Partial<HangLimits>,
			number,
			object | undefined,
		]
	>([
		[
			"is none before the first step",
			[worker(0, []), worker(1, [])],
			{},
			3_600_000,
			undefined,
		],
		[
			"is none while one worker makes steps",
			[worker(0, [1_000]), worker(1, [1_000, 70_000])],
			{},
			100_000,
			undefined,
		],
		[
			"begins when the last worker's last step is as old as the limit",
			[worker(0, [1_000]), worker(1, [1_000, 70_000])],
			{},
			130_000,
			{ stillMs: 60_000, limitMs: 60_000, slowMs: 180_000 },
		],
		[
			"counts from the end of what was announced",
			[worker(0, [1_000], { busyUntil: 500_000 })],
			{},
			501_000,
			undefined,
		],
		[
			"needs a minute at least where the limit is learned",
			[worker(0, [...FOUR, 2_000])],
			{ hangMs: "auto" },
			61_999,
			undefined,
		],
		[
			"is one after a minute where the limit is learned from short steps",
			[worker(0, [...FOUR, 2_000])],
			{ hangMs: "auto" },
			62_000,
			{ limitMs: 60_000, slowMs: 600_000 },
		],
		[
			"is one after five times the longest step where the limit is learned",
			[worker(0, [0, 100_000, 100_100, 100_200, 101_000])],
			{ hangMs: "auto" },
			601_000,
			{ limitMs: 500_000, slowMs: 1_500_000 },
		],
		[
			"needs ten minutes where the limit is to be learned from too few steps",
			[worker(0, FOUR)],
			{ hangMs: "auto" },
			601_299,
			undefined,
		],
		[
			"at the start names the worker that has waited longest",
			[worker(0, [], { since: 5_000 }), worker(1, [])],
			{ startMs: 30_000 },
			30_000,
			{ withoutFirstStep: 1, stillMs: 30_000 },
		],
	])("A4 %s", (_, workers, limits, now, expected) => {
		const judged = judgeStandstill(
			workers,
			{ ...LIMITS, ...limits },
			true,
			now,
		);
		if (expected === undefined) expect(judged).toBeUndefined();
		else expect(judged).toMatchObject(expected);
	});

	it("A4 at the start is none where no worker of the node ever counted steps", () => {
		const limits = { ...LIMITS, startMs: 30_000 };
		const judged = judgeStandstill([worker(0, [])], limits, false, 99_000);
		expect(judged).toBeUndefined();
	});
});

describe("steps that a full disk has lost", () => {
	const NEVER = new Promise<void>(() => {});
	const open = (look = async () => {}) => {
		const clock = new VirtualClock(100_000);
		const logSpace = { fullAt: 70_000, look };
		const channelSpace = { fullAt: 90_000, look };
		return { clock, lost: new LostSteps({ clock, logSpace, channelSpace }) };
	};

	it.each([
		["hook", 0],
		["report", 90_000],
		["output", 70_000],
		[undefined, 90_000],
	] as const)("A5 %s: until %i", (source, until) => {
		expect(open().lost.until(source)).toBe(until);
	});

	it("A5 a disk that does not answer is not waited for", async () => {
		const { clock, lost } = open(() => NEVER);
		const looked = lost.look().then(() => clock.now());
		await clock.advance(5_000);
		expect(await looked).toBe(101_000);
	});
});
