import { describe, expect, it } from "vitest";
import {
	noteStep,
	type SeenStep,
	stepRate,
	type WorkerSteps,
} from "../../../src/steps/worker-steps.js";

/** When, from which source, and which number. */
type Seen = readonly [number, SeenStep["source"], number];

function stepsAfter(...seen: readonly Seen[]): WorkerSteps {
	const steps = seen.reduce<WorkerSteps | undefined>(
		(before, [at, source, step]) => noteStep(before, { source, step }, at),
		undefined,
	);
	if (steps === undefined) throw new Error("no steps");
	return steps;
}

describe("the steps of a worker", () => {
	it.each<[string, readonly Seen[], Partial<WorkerSteps>]>([
		[
			"stay where a number is repeated",
			[
				[1_000, "output", 5],
				[9_000, "output", 5],
			],
			{ step: 5, at: 1_000 },
		],
		[
			"go on where a number is lower: an epoch may count from 0",
			[
				[1_000, "report", 99],
				[3_000, "report", 0],
			],
			{ step: 0, at: 3_000 },
		],
		[
			"come from the best source that has shown one",
			[
				[1_000, "output", 5],
				[2_000, "hook", 1],
				[3_000, "output", 6],
			],
			{ source: "hook", step: 1, at: 2_000, firstAt: 1_000 },
		],
		[
			"come from reports before all else",
			[
				[1_000, "hook", 8],
				[2_000, "report", 100],
				[3_000, "hook", 9],
			],
			{ source: "report", step: 100, firstStep: 100 },
		],
	])("A4 %s", (_, seen, expected) => {
		expect(stepsAfter(...seen)).toMatchObject(expected);
	});

	it("A4 keep the newest numbers reported with them", () => {
		const first = noteStep(
			undefined,
			{ source: "report", step: 1, metrics: { loss: 2 } },
			0,
		);
		const same = { source: "report", step: 1, metrics: { loss: 1 } } as const;
		expect(noteStep(first, same, 5)).toMatchObject({ metrics: { loss: 1 } });
		const bare = noteStep(first, { source: "report", step: 2 }, 9);
		expect(bare).toMatchObject({ step: 2, metrics: { loss: 2 } });
	});
});

describe("the rate of steps", () => {
	it("A4 is unknown before the second step", () => {
		expect(stepRate(stepsAfter([0, "hook", 1]), 500)).toBeNull();
	});

	it("A4 is that of the last half minute", () => {
		const slow = [...Array(61).keys()].map(
			(second) => [second * 1_000, "hook", second] as const,
		);
		const fast = [...Array(60).keys()].map(
			(second) => [61_000 + second * 1_000, "hook", 61 + second * 10] as const,
		);
		expect(stepRate(stepsAfter(...slow), 60_000)).toBeCloseTo(1, 5);
		expect(stepRate(stepsAfter(...slow, ...fast), 120_000)).toBeCloseTo(10, 1);
	});

	it("A4 falls while no step comes", () => {
		const steps = stepsAfter([0, "hook", 0], [10_000, "hook", 10]);
		expect(stepRate(steps, 11_000)).toBeCloseTo(1, 5);
		expect(stepRate(steps, 40_000)).toBeCloseTo(0.25, 5);
	});
});
