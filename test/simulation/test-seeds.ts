import { expect, it } from "vitest";
import { changedSince, digestsOf, readKept } from "./kept-seeds.js";
import { describeRed, runSeeds } from "./run-seeds.js";

/** How many seeds, for who wants another number; one alone where SIM_SEED names it. */
const { SIM_SEED, SIM_SEEDS } = process.env;
/** Long enough for a machine that is busy with other things. */
const PATIENCE_MS = 300_000;
/** So many seeds come to every situation. */
const ENOUGH_SEEDS = 500;
/** So many seeds that differ from what is kept of them show what a change has done. */
const SHOWN = 10;

/** Plays half of the seeds that `npm test` plays. */
export function testSeeds(part: "first half" | "second half"): void {
	const count = Number(SIM_SEEDS ?? "300");
	const half = Math.ceil(count / 2);
	const isFirst = part === "first half";
	if (SIM_SEED !== undefined) {
		if (isFirst) testSeedsFrom(Number(SIM_SEED), 1);
	} else if (isFirst) testSeedsFrom(1, half);
	else testSeedsFrom(half + 1, count - half);
}

/** Plays these seeds; where they are many, each situation must have occurred. */
export function testSeedsFrom(from: number, count: number): void {
	const changed: string[] = [];
	const kept = readKept();
	it(
		`J1 J3 J4 J5 D6 holds every invariant, whatever the seed: ${count} from ${from} on`,
		async () => {
			const startedAt = performance.now();
			const { seeds, situations, red } = await runSeeds(from, count, {
				onRun: (run) => {
					const before = kept.get(run.seed);
					const now = digestsOf(run);
					if (before === undefined || before === now) return;
					changed.push(`seed ${run.seed}: ${changedSince(before, now)}`);
				},
			});
			const seconds = (performance.now() - startedAt) / 1000;
			console.log(
				`${seeds} seeds in ${seconds.toFixed(1)} s, ${Math.round(seeds / seconds)} a second`,
			);
			expect(red === undefined ? "all green" : describeRed(red)).toBe(
				"all green",
			);
			if (seeds < ENOUGH_SEEDS) return;
			const missing = [...situations].filter(([, runs]) => runs === 0);
			expect(missing.map(([situation]) => situation)).toEqual([]);
		},
		PATIENCE_MS,
	);
	it("decides, says and records in each seed what is kept of it", () => {
		expect(changed.slice(0, SHOWN)).toEqual([]);
	});
}
