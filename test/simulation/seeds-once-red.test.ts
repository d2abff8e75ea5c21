import { expect, it } from "vitest";
import { describeRed, runSeeds } from "./run-seeds.js";

/** Each of them has shown a fault, of the product or of a checker. */
const ONCE_RED = [
	371, 2006, 3519, 4202, 6880, 13092, 16654, 20465, 26316, 35587, 38784, 46088,
	52436, 65294, 67139, 71231, 80223, 82652,
];

/** The same, of machines that may say that they will go, and of agents that have links. */
const ONCE_RED_WITH_NOTICES = [19185, 101148, 101606];
const ONCE_RED_WITH_LINKS = [
	6014, 25273, 41370, 55021, 68736, 69764, 70143, 90393, 402373, 500353,
];

it.each([
	...ONCE_RED.map((seed) => ({ seed })),
	...ONCE_RED_WITH_NOTICES.map((seed) => ({ seed, notices: true })),
	...ONCE_RED_WITH_LINKS.map((seed) => ({ seed, links: true })),
])("holds every invariant with $seed", async ({ seed, ...more }) => {
	const { red } = await runSeeds(seed, 1, { more });
	expect(red === undefined ? "green" : describeRed(red)).toBe("green");
});
