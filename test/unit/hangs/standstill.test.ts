import { describe, expect, it } from "vitest";
import { LostSteps } from "../../../src/hangs/hang-watch.js";
import {
	type BehindOthers,
	behindOthers,
	type HangLimits,
	judgeStandstill,
	stillFrom,
	type WatchedWorker,
} from "../../../src/hangs/standstill.js";
import { noteMove } from "../../../src/steps/worker-steps.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const NEVER = Number.NEGATIVE_INFINITY;
/** Too few steps to learn from. */
const FOUR = [1_000, 1_100, 1_200, 1_300];
const EACH_TEN_S = [1, 2, 3, 4, 5, 6, 7, 8, 9].map((one) => one * 10_000);
const LIMITS: HangLimits = { hangMs: 60_000, startMs: 0 };

/** When each worker made its steps. */
const steps = new WeakMap<WatchedWorker, readonly number[]>();

/** What looks at each step of these have found. */
function behindOf(
	workers: readonly WatchedWorker[],
	limits: HangLimits,
): BehindOthers {
	const all = workers.map((one) => ({ one, at: steps.get(one) ?? [] }));
	const looks = all.flatMap(({ at }) => at).sort((left, right) => left - right);
	return looks.reduce<BehindOthers>((behind, now) => {
		const then = all.map(({ one, at }) =>
			worker(
				one.localRank,
				at.filter((step) => step <= now),
			),
		);
		return behindOthers(behind, then, limits);
	}, new Map());
}

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
	const made = { localRank, since, movement, busyUntil };
	steps.set(made, stepsAt);
	return made;
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
			[worker(0, [1_000, 40_001]), worker(1, [1_000, 70_000])],
			{},
			100_000,
			undefined,
		],
		[
			"is that of the workers alone that have made no step for the limit, while another one has",
			[worker(0, [1_000]), worker(1, EACH_TEN_S), worker(2, [30_000])],
			{},
			95_000,
			{ alone: [0, 2], stillMs: 65_000, movedAt: 30_000 },
		],
		[
			"is none of the workers that another one has only begun to leave behind, after all had stood still",
			[worker(0, [1_000]), worker(1, [1_000, 55_000, 65_000, 75_000])],
			{},
			80_000,
			undefined,
		],
		[
			"is none of one that made the same step a moment before the last",
			[worker(0, [1_000]), worker(1, [1_100])],
			{},
			61_050,
			undefined,
		],
		[
			"is none of a worker that has never made a step, while another one does: perhaps it tells none",
			[worker(0, []), worker(1, EACH_TEN_S)],
			{},
			100_000,
			undefined,
		],
		[
			"is none of a worker alone while another one is busy: it may wait for that one",
			[worker(0, [1_000]), worker(1, EACH_TEN_S, { busyUntil: 200_000 })],
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
			{ start: { localRank: 1, isUsual: false }, stillMs: 30_000 },
		],
	])("A4 %s", (_, workers, limits, now, expected) => {
		const all = { ...LIMITS, ...limits };
		const behind = behindOf(workers, all);
		const before = { behind, countsSteps: true, usesGroups: () => false };
		const judged = judgeStandstill(workers, all, before, now);
		if (expected === undefined) expect(judged).toBeUndefined();
		else expect(judged).toMatchObject(expected);
	});

	const HALF_HOUR_MS = 1_800_000;

	it.each<[number | "auto", boolean, number, object | undefined]>([
		[30_000, false, 30_000, { isUsual: false, isUnsure: false }],
		[0, true, 9_000_000, undefined],
		["auto", true, HALF_HOUR_MS, { isUsual: true, isUnsure: false }],
		["auto", false, HALF_HOUR_MS, { isUsual: true, isUnsure: true }],
		["auto", true, HALF_HOUR_MS - 1, undefined],
	])("A4 at the start, with the limit %s, torch's groups in use %s, after %i ms where no step was ever seen: %o", (startMs, isInUse, now, expected) => {
		const limits = { ...LIMITS, startMs };
		const usesGroups = () => isInUse;
		const before = { behind: new Map(), countsSteps: false, usesGroups };
		const judged = judgeStandstill([worker(0, [])], limits, before, now);
		const start = { localRank: 0, isUncounted: true, ...expected };
		expect(judged?.start).toEqual(expected && start);
	});
});

it.each<[string, WatchedWorker, number | "auto", number | undefined]>([
	["after its last step", worker(0, [7_000]), 0, 67_000],
	["after the start", worker(0, [], { since: 5_000 }), 30_000, 35_000],
	["after the start", worker(0, [], { since: 5_000 }), "auto", 1_805_000],
	["after it was busy", worker(0, [], { busyUntil: 9_000 }), 30_000, 39_000],
	["never, where the start has no limit", worker(0, []), 0, undefined],
])("A5 a worker stands still %s: %o, --start-timeout %s", (_, one, startMs, at) => {
	expect(stillFrom([one], { ...LIMITS, startMs })).toBe(at);
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
