import { expect, it } from "vitest";
import { systemClock } from "../../src/clock.js";
import { pause } from "../../src/rendezvous/back-off.js";

/** Who is interrupted between its two clocks reads too little. */
function asleep(): number {
	const readings = Array.from({ length: 20 }, () => systemClock.asleep());
	return Math.max(...readings);
}

it("the real clock knows that nobody slept while it went on", async () => {
	const before = asleep();
	await pause(systemClock, 200);
	expect(Math.abs(asleep() - before)).toBeLessThan(100);
});
