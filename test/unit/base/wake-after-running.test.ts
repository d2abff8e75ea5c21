import { expect, it } from "vitest";
import { wakeAfterRunning } from "../../../src/base/wake-after-running.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

function waiting() {
	const clock = new VirtualClock();
	let isOver = false;
	const cancel = wakeAfterRunning(clock, 2_000, () => {
		isOver = true;
	});
	return { clock, cancel, isOver: () => isOver };
}

it("wakes after the time, and not if it was cancelled", async () => {
	const one = waiting();
	await one.clock.advance(1_999);
	expect(one.isOver()).toBe(false);
	await one.clock.advance(1);
	expect(one.isOver()).toBe(true);
	for (const waited of [0, 1_500]) {
		const other = waiting();
		await other.clock.advance(waited);
		other.cancel();
		await other.clock.advance(10_000);
		expect(other.isOver()).toBe(false);
	}
});
