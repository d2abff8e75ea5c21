import { getEventListeners } from "node:events";
import { describe, expect, it } from "vitest";
import { abortsWithin, within } from "../../../src/base/within.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

describe("waiting within a time", () => {
	it("ends without it when the time is over", async () => {
		const clock = new VirtualClock();
		const waiting = within(clock, 1_000, new Promise<number>(() => {}));
		await clock.advance(1_000);
		expect(await waiting).toBeUndefined();
	});
});

describe("waiting within a time for a signal", () => {
	const waiting = (clock: VirtualClock, signal: AbortSignal) =>
		Promise.all(
			Array.from({ length: 8 }, () => abortsWithin(clock, 1_000, signal)),
		);

	it("leaves no listener and no alarm behind when the time is over", async () => {
		const clock = new VirtualClock();
		const { signal } = new AbortController();
		const all = waiting(clock, signal);
		expect(getEventListeners(signal, "abort")).toHaveLength(8);
		await clock.advance(1_000);
		expect(new Set(await all)).toEqual(new Set([false]));
		expect(getEventListeners(signal, "abort")).toEqual([]);
		expect(clock.nextAlarm).toBeUndefined();
	});

	it("ends at once when it is aborted, and leaves as little", async () => {
		const clock = new VirtualClock();
		const control = new AbortController();
		const all = waiting(clock, control.signal);
		control.abort();
		expect(new Set(await all)).toEqual(new Set([true]));
		expect(getEventListeners(control.signal, "abort")).toEqual([]);
		expect(clock.nextAlarm).toBeUndefined();
	});
});
