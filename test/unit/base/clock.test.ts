import { expect, it, onTestFinished, vi } from "vitest";
import { onBeat, systemClock } from "../../../src/base/clock.js";

it("the real clock wakes nobody before the time, though timers may fire too early", async () => {
	const time = { now: 1_000 };
	const now = vi.spyOn(performance, "now").mockImplementation(() => time.now);
	onTestFinished(() => now.mockRestore());
	const wokeAt = new Promise<number>((resolve) => {
		systemClock.wakeAt(1_000.5, () => resolve(time.now));
	});
	// The timer fires, by this clock, four times too early.
	const answers = [1_000.1, 1_000.2, 1_000.3, 1_000.4, 1_000.6];
	now.mockImplementation(() => {
		time.now = answers.shift() ?? time.now;
		return time.now;
	});
	expect(await wokeAt).toBe(1_000.6);
});

it.each([
	[1_234.5, 1_000, 1_000],
	[1_500, 1_000, 2_000],
	[1_999.6, 1_000, 2_000],
	[2_000.4, 1_000, 2_000],
	[3_700, 2_000, 4_000],
	[1_234.5, 999, 1_234.5],
])("what is due at %d, %d ms after the last time, wakes at %d", (dueAt, afterMs, at) => {
	expect(onBeat(dueAt, afterMs)).toBe(at);
});
