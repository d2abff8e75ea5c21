import { expect, it } from "vitest";
import { describeRed, describeTrace, runSeeds } from "./run-seeds.js";
import { simulate } from "./simulate.js";

/** How many seeds; one alone where SIM_SEED names it. */
const { SIM_SEED, SIM_SEEDS = "1000" } = process.env;
/** Long enough for a machine that is busy with other things. */
const PATIENCE_MS = 300_000;

it(
	"holds every invariant, whatever the seed",
	async () => {
		const startedAt = performance.now();
		const { seeds, red } = await (SIM_SEED === undefined
			? runSeeds(1, Number(SIM_SEEDS))
			: runSeeds(Number(SIM_SEED), 1));
		const seconds = (performance.now() - startedAt) / 1000;
		console.log(
			`${seeds} seeds in ${seconds.toFixed(1)} s, ${Math.round(seeds / seconds)} a second`,
		);
		expect(red === undefined ? "all green" : describeRed(red)).toBe(
			"all green",
		);
	},
	PATIENCE_MS,
);

it("plays a seed twice in the same way", async () => {
	const [first, second] = [await simulate(42), await simulate(42)];
	expect(describeTrace(second.trace)).toBe(describeTrace(first.trace));
	expect(first.trace.length).toBeGreaterThan(20);
});
