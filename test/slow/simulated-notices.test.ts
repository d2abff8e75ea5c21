import { describe, expect, it } from "vitest";
import { NOTICES, playManyNotices } from "../simulation/many-notices.js";
import { describeRed, runSeeds } from "../simulation/run-seeds.js";

const SEEDS = 100;

it(`P9 J1 J3 holds every invariant where machines announce their end: ${SEEDS} seeds`, async () => {
	const { red } = await runSeeds(1, SEEDS, { more: { notices: true } });
	expect(red === undefined ? "all green" : describeRed(red)).toBe("all green");
}, 300_000);

describe.each(["hard", "soft"] as const)("P3 P10 %s", (policy) => {
	it(`${NOTICES} notices in one run charge no restart and end no run`, async () => {
		const { last, processes, given } = await playManyNotices(1, policy);
		expect(given).toBeGreaterThanOrEqual(NOTICES);
		const left = processes.flatMap(({ ending }) => ending ?? []);
		expect(left.length).toBeGreaterThan(NOTICES / 3);
		for (const { outcome, exitCode, reason } of left) {
			expect([143, 75], reason).toContain(exitCode);
			expect(outcome).toBe("left");
		}
		expect(last?.round).toMatchObject({
			...{ outcome: null, charged: 0, incidents: 0 },
		});
		expect([...(last?.budgets ?? [])]).toEqual([]);
	}, 60_000);
});
