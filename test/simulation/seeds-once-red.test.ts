import { expect, it } from "vitest";
import { describeRed, runSeeds } from "./run-seeds.js";

/** Each of them has shown a fault, of the product or of a checker. */
const ONCE_RED = [
	371, 2006, 3519, 4202, 6880, 13092, 16654, 20465, 26316, 35587, 38784, 46088,
	52436, 65294, 67139, 71231, 80223, 82652,
];

/** The same, of machines that may say that they will go. */
const ONCE_RED_WITH_NOTICES = [19185, 101148, 101606];

it.each(ONCE_RED)("holds every invariant with seed %d", (seed) =>
	expectGreen(seed));

it.each(
	ONCE_RED_WITH_NOTICES,
)("holds every invariant with seed %d and notices", (seed) =>
	expectGreen(seed, true));

async function expectGreen(seed: number, notices = false): Promise<void> {
	const { red } = await runSeeds(seed, 1, { more: { notices } });
	expect(red === undefined ? "green" : describeRed(red)).toBe("green");
}
