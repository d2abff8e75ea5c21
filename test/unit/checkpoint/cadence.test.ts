import { describe, expect, it } from "vitest";
import {
	CheckpointCadence,
	meanTimeBetweenInterruptionsMs,
	stepsBetweenCheckpoints,
	youngDalyIntervalMs,
} from "../../../src/checkpoint/cadence.js";

const HOUR_MS = 3_600_000;

describe("P4 the interval of Young and Daly", () => {
	it.each([
		{ meanMs: 10_800_000, saveMs: 30_000, workers: 1, intervalMs: 804_984.47 },
		{ meanMs: 10_800_000, saveMs: 30_000, workers: 4, intervalMs: 402_492.24 },
		{ meanMs: 10_800_000, saveMs: 0, workers: 1, intervalMs: 0 },
		{ meanMs: 200, saveMs: 100, workers: 1, intervalMs: 200 },
	])("$meanMs ms between failures, $saveMs ms a save, $workers workers → $intervalMs ms", ({
		meanMs,
		saveMs,
		workers,
		intervalMs,
	}) => {
		expect(youngDalyIntervalMs(meanMs, saveMs, workers)).toBeCloseTo(
			intervalMs,
			2,
		);
	});

	it.each([
		{ intervalMs: 804_984.47, stepMs: 2_000, steps: 402 },
		{ intervalMs: 1_999, stepMs: 1_000, steps: 1 },
		{ intervalMs: 10, stepMs: 1_000, steps: 1 },
		{ intervalMs: 0, stepMs: 0, steps: 1 },
		{ intervalMs: 10, stepMs: 0, steps: Number.POSITIVE_INFINITY },
	])("$intervalMs ms at $stepMs ms a step → $steps steps", ({
		intervalMs,
		stepMs,
		steps,
	}) => {
		expect(stepsBetweenCheckpoints(intervalMs, stepMs)).toBe(steps);
	});

	it.each([
		["meanTimeBetweenFailuresMs", () => youngDalyIntervalMs(0, 1)],
		["checkpointMs", () => youngDalyIntervalMs(1, -1)],
		["workers", () => youngDalyIntervalMs(1, 1, 0)],
		["stepMs", () => stepsBetweenCheckpoints(1, Number.NaN)],
	])("names %s where it makes no sense", (name, compute) => {
		expect(compute).toThrow(name);
	});
});

it.each([
	{ observedMs: 0, interruptions: 0, meanMs: HOUR_MS },
	{ observedMs: 3 * HOUR_MS, interruptions: 1, meanMs: 2 * HOUR_MS },
	{ observedMs: 0, interruptions: 9, meanMs: HOUR_MS / 10 },
	{ observedMs: -5_000, interruptions: 0, meanMs: HOUR_MS },
])("$interruptions interruptions in $observedMs ms → $meanMs ms between them", ({
	meanMs,
	...history
}) => {
	expect(meanTimeBetweenInterruptionsMs(history)).toBe(meanMs);
});

describe("a cadence", () => {
	/** The steps that are saved when a step takes `stepMs` and a save `saveMs`. */
	function savedSteps(options: {
		from?: number;
		to: number;
		stepMs: number;
		saveMs: number;
		meanMs: number;
		maxSteps?: number;
	}): number[] {
		const { from = 0, to, stepMs, saveMs, meanMs } = options;
		const cadence = new CheckpointCadence(
			options.maxSteps ?? Number.POSITIVE_INFINITY,
		);
		cadence.restored(from);
		const saved: number[] = [];
		let now = 0;
		for (let step = from + 1; step <= to; step += 1) {
			now += stepMs;
			if (!cadence.isDue(step, now, meanMs)) continue;
			now += saveMs;
			cadence.saved(step, saveMs);
			saved.push(step);
		}
		return saved;
	}

	it("saves the first step, then at the measured interval", () => {
		expect(
			savedSteps({ to: 1_000, stepMs: 2_000, saveMs: 30_000, meanMs: 10.8e6 }),
		).toEqual([1, 403, 805]);
	});

	it("never leaves more than maxSteps between two saves", () => {
		expect(
			savedSteps({
				to: 12,
				stepMs: 1,
				saveMs: 30_000,
				meanMs: 10.8e6,
				maxSteps: 5,
			}),
		).toEqual([1, 6, 11]);
	});
});
