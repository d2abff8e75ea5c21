import { describe, expect, it } from "vitest";
import { FIGURES } from "../../../bench/figures.js";
import { judge, medianOf, summary, typicalOf } from "../../../bench/judge.js";

const results = (medians: Readonly<Record<string, number>>) =>
	Object.entries(medians).map(([name, median]) => summary(name, [median]));

describe("a figure is judged by its ratio to what was measured in the same run", () => {
	const own = 80;
	it.each([
		["within", { atMost: 2, times: ["Node"] }, { Node: 41 }, 80 / 41, true],
		["just within", { atMost: 2, times: ["Node"] }, { Node: 40 }, 2, true],
		["beyond", { atMost: 2, times: ["Node"] }, { Node: 39 }, 80 / 39, false],
		["a sum", { atMost: 4, times: ["a", "b"] }, { a: 15, b: 5 }, 4, true],
		["enough", { atLeast: 15, times: ["torch"] }, { torch: 5 }, 16, true],
		[
			"too little",
			{ atLeast: 15, times: ["torch"] },
			{ torch: 6 },
			80 / 6,
			false,
		],
		["no such peer", { atMost: 2, times: ["Node"] }, { C: 1 }, null, null],
		["half a sum", { atMost: 4, times: ["a", "b"] }, { a: 15 }, null, null],
		["nothing at all", { atMost: 2, times: ["a"] }, { a: 0 }, null, false],
	] as const)("%s", (_, goal, others, ratio, isMet) => {
		const judged = judge({ goal }, results({ "elastic-run": own, ...others }));
		expect(judged).toMatchObject({ ratio, isMet });
	});

	it("says of each other one how many times it elastic-run takes", () => {
		const all = results({ "elastic-run": 80, Node: 40, torchrun: 320 });
		const goal = { atMost: 2, times: ["Node"] };
		expect(judge({ goal }, all).results.map(({ ratio }) => ratio)).toEqual([
			null,
			2,
			0.25,
		]);
	});
});

it("names in each goal something that takes part", () => {
	for (const { name, goal, peers, beside = [] } of FIGURES) {
		const known = [
			...(peers ?? ["Node by hand", "C by hand", "torchrun"]),
			...beside.map((one) => one.name),
		];
		expect(known, name).toEqual(expect.arrayContaining([...goal.times]));
		expect(goal.times.length, name).toBeGreaterThan(0);
	}
});

it.each([
	["one", [3], 3],
	["odd, in any order", [9, 1, 3], 3],
	["even", [4, 1, 2, 9], 3],
] as const)("the median of %s", (_, samples, median) => {
	expect(medianOf(samples)).toBe(median);
});

it("a typical ratio hardly heeds one outlier", () => {
	expect(typicalOf([1, 1, 1, 1, 50])).toBe(1);
	expect(typicalOf([2, 2, 2])).toBeCloseTo(2);
});
