import { expect, it } from "vitest";
import { describeRed, runSeeds } from "../simulation/run-seeds.js";

const SEEDS = 1_000;

// `npm test` plays those before.
it(`A6 J22 holds every invariant where agents have links: ${SEEDS} seeds`, async () => {
	const { red } = await runSeeds(61, SEEDS, { more: { links: true } });
	expect(red === undefined ? "all green" : describeRed(red)).toBe("all green");
}, 600_000);
