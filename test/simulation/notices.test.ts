import { expect, it } from "vitest";
import { describeRed, runSeeds } from "./run-seeds.js";

const SEEDS = 100;

it(`P9 J1 J3 holds every invariant where machines announce their end: ${SEEDS} seeds`, async () => {
	const { red } = await runSeeds(1, SEEDS, { hasNotices: true });
	expect(red === undefined ? "all green" : describeRed(red)).toBe("all green");
}, 300_000);
