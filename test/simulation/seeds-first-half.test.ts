import { expect, it } from "vitest";
import { describeTrace } from "./run-seeds.js";
import { simulate } from "./simulate.js";
import { testSeeds } from "./test-seeds.js";

testSeeds("first half");

it("plays a seed twice in the same way", async () => {
	const [first, second] = [await simulate(42), await simulate(42)];
	expect(describeTrace(second.trace)).toBe(describeTrace(first.trace));
	expect(first.trace.length).toBeGreaterThan(20);
});
