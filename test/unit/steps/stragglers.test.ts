import { describe, expect, it } from "vitest";
import type { Pace } from "../../../src/model/step.js";
import {
	Arrivals,
	OwnTime,
	PACE_STEPS,
	paceOf,
} from "../../../src/steps/pace.js";
import {
	findStraggler,
	followStraggler,
	type PacedRank,
} from "../../../src/steps/stragglers.js";
import { seededRandom } from "../../helpers/seeded-random.js";

/** Least, usual and most seconds of a rank's steps. */
type Paces = readonly (readonly [number, number, number] | undefined)[];

const ranksOf = (
	paces: Paces,
	by: Pace["by"] = "own-time",
): readonly PacedRank[] =>
	paces.map((pace, rank) => ({
		...{ rank, node: `node-${rank}`, step: 100, rate: 10 },
		pace: pace && {
			...{ by, least: pace[0], usual: pace[1], most: pace[2] },
		},
	}));

const FAST = [0.045, 0.05, 0.055] as const;
const SLOW = [0.075, 0.08, 0.085] as const;

describe("the straggler", () => {
	it.each<[string, Paces, number | undefined]>([
		["is the slowest rank", [FAST, FAST, SLOW, FAST], 2],
		["is none of two: nobody is in the middle", [FAST, SLOW], undefined],
		["is none where all are slow", [SLOW, SLOW, SLOW], undefined],
		["is none of two halves", [FAST, FAST, SLOW, SLOW], undefined],
		[
			"is none where its steps vary as much as it is slower",
			[FAST, FAST, [0.05, 0.08, 0.2], FAST],
			undefined,
		],
		[
			"is none where all differ",
			[[0.04, 0.041, 0.042], [0.05, 0.051, 0.052], [0.06, 0.061, 0.062], SLOW],
			undefined,
		],
		[
			"is none where it loses less than 5 % of a step",
			[...Array(3).fill([0.05, 0.05, 0.05]), [0.054, 0.0545, 0.055]],
			undefined,
		],
		["is none before enough steps", [FAST, undefined, SLOW, FAST], undefined],
		[
			"C2 is none where it is later than a whole step: nobody waits for it",
			[FAST, FAST, [0.4, 0.438, 0.45], FAST],
			undefined,
		],
	])("%s", (_, paces, rank) => {
		expect(findStraggler(ranksOf(paces))?.rank).toBe(rank);
	});

	it("C2 is none where one is faster than the others: it waits for nobody", () => {
		const ranks = ranksOf([FAST, FAST, SLOW, FAST]);
		const free = ranks.map((one) => ({ ...one, rate: 10 + one.rank }));
		expect(findStraggler(free)).toBeUndefined();
	});

	it("loses to the others what it takes longer than the middle one", () => {
		const found = findStraggler(ranksOf([FAST, FAST, SLOW, FAST]));
		expect(found?.lostSecondsPerStep).toBeCloseTo(0.03);
	});

	it("is found by arrivals where not all ranks have a time of their own", () => {
		const [own] = ranksOf([SLOW]);
		const others = ranksOf([FAST, FAST, SLOW, FAST], "arrival");
		const ranks = [...others, ...(own ? [own] : [])];
		expect(findStraggler(ranks)).toMatchObject({ rank: 2, node: "node-2" });
	});

	it("stays until it is no longer far from the others, and its loss adds up", () => {
		const at = (step: number, slow: Paces[number]) =>
			ranksOf([FAST, FAST, slow, FAST]).map((one) => ({ ...one, step }));
		const first = followStraggler(undefined, at(100, SLOW), 7_000);
		expect(first).toMatchObject({ rank: 2, lostSeconds: 0, since: 7_000 });
		const wavers = followStraggler(first, at(150, [0.05, 0.08, 0.09]), 9_000);
		expect(wavers).toMatchObject({ rank: 2, since: 7_000 });
		expect(wavers?.lostSeconds).toBeCloseTo(1.5);
		expect(followStraggler(wavers, at(200, FAST), 11_000)).toBeUndefined();
	});
});

/** Steps of equal ranks that vary, each with its own chance; `extra` seconds more for the last rank. */
function simulate(
	seed: number,
	ranks: number,
	extra: number,
	jitter: (random: () => number) => number,
): readonly (number | undefined)[] {
	const random = seededRandom(seed);
	const samples = Array.from({ length: ranks }, (): number[] => []);
	const found: (number | undefined)[] = [];
	for (let step = 1; step <= 200; step++) {
		for (const [rank, its] of samples.entries()) {
			its.push(0.1 + jitter(random) + (rank === ranks - 1 ? extra : 0));
		}
		const paced = samples.map((its, rank) => ({
			...{ rank, node: "a", step, rate: 10 },
			pace: paceOf("own-time", its.slice(-PACE_STEPS)),
		}));
		found.push(findStraggler(paced)?.rank);
	}
	return found;
}

const even = (random: () => number) => 0.02 * random();
const heavy = (random: () => number) => 0.005 / (1 - 0.99 * random());

describe("by chance", () => {
	it.each([
		["even", even],
		["heavy-tailed", heavy],
	] as const)("no rank is named where all are equal: %s steps", (_, jitter) => {
		const named = [3, 4, 8, 64].flatMap((ranks) =>
			Array.from({ length: ranks === 64 ? 1 : 10 }, (_, seed) =>
				simulate(seed + 1, ranks, 0, jitter),
			).flat(),
		);
		expect(named.filter((rank) => rank !== undefined)).toEqual([]);
	});

	it.each([
		4, 64,
	])("one of %i ranks that is slower is named in the first steps that can tell", (ranks) => {
		for (let seed = 1; seed <= 10; seed++) {
			const found = simulate(seed, ranks, 0.03, even);
			expect(found.slice(0, PACE_STEPS - 1)).not.toContain(ranks - 1);
			expect(found.indexOf(ranks - 1)).toBe(PACE_STEPS - 1);
		}
	});
});

describe("own times", () => {
	it("are those of the steps since the last look", () => {
		const own = new OwnTime();
		for (let look = 1; look <= PACE_STEPS; look++) {
			own.note({ timed: look * 3, ownSeconds: look * 0.3 });
			own.note({ timed: look * 3, ownSeconds: look * 0.3 });
		}
		expect(own.pace?.usual).toBeCloseTo(0.1);
		expect(own.pace?.by).toBe("own-time");
		own.note({ timed: 1, ownSeconds: 9 });
		expect(own.pace?.most).toBeCloseTo(0.1);
		own.clear();
		expect(own.pace).toBeUndefined();
	});
});

describe("arrivals", () => {
	/** Steps of workers that each take so many milliseconds, more or less, and of which some wait for all. */
	const note = (
		takes: readonly number[],
		steps: number,
		{ waits = true, vary = 4, starts = [0, 20, 40] } = {},
	) => {
		const random = seededRandom(7);
		const arrivals = new Arrivals();
		let times = takes.map((_, rank) => starts[rank] ?? 0);
		for (let step = 1; step <= steps; step++) {
			const last = Math.max(...times);
			times = times.map(
				(own, rank) =>
					(waits ? last : own) + (takes[rank] ?? 0) + vary * random(),
			);
			const told = [...times.entries()].sort(([, a], [, b]) => a - b);
			for (const [rank, at] of told) arrivals.note(rank, step, Math.round(at));
		}
		return arrivals;
	};
	/** One for the first report, before all workers are known, and 41 that tell whether they wait. */
	const ENOUGH = 42;

	it.each<[readonly number[], readonly number[]]>([
		[
			[100, 100, 130],
			[0, 0, 0.03],
		],
		[
			[100, 130],
			[0, 0.03],
		],
	])("C2 of %j ms a step are measured from the middle one", (takes, usual) => {
		const arrivals = note(takes, ENOUGH);
		for (const [rank, seconds] of usual.entries()) {
			const found = arrivals.paceOf(rank)?.usual;
			expect(Math.abs((found ?? 1) - seconds)).toBeLessThan(0.004);
		}
	});

	it("say nothing before enough steps, of a lone worker, and after another round began", () => {
		expect(note([100, 130], ENOUGH - 2).paceOf(1)).toBeUndefined();
		expect(note([100], 100).paceOf(0)).toBeUndefined();
		const arrivals = note([100, 130], 100);
		arrivals.clear();
		expect(arrivals.paceOf(1)).toBeUndefined();
	});

	it.each([
		["equally fast", [105, 105, 105], 4],
		["one slower", [105, 105, 109], 4],
		["one much slower", [75, 75, 438], 4],
		["without any variation", [105, 105, 105], 0],
	] as const)("C2 of workers that do not wait are none: %s", (_, takes, vary) => {
		for (let steps = ENOUGH; steps <= 400; steps += 20) {
			const free = note(takes, steps, { waits: false, vary });
			expect(free.paceOf(2), `${steps} steps`).toBeUndefined();
		}
	});

	it("C2 end with the first step that one makes before all have made the last", () => {
		const arrivals = note([100, 130], ENOUGH);
		expect(arrivals.paceOf(1)).toBeDefined();
		const [late, early] = [1e6, 1e6 - 200];
		arrivals.note(0, 900, early - 10);
		arrivals.note(0, 901, early);
		arrivals.note(1, 900, late);
		arrivals.note(1, 901, late + 10);
		expect(arrivals.paceOf(1)).toBeUndefined();
	});
});
