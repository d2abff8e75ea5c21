import { expect, it } from "vitest";
import { ForkedWorker } from "../../../src/warm/forked-worker.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it("has not begun once it was given up, even if it says so afterwards", () => {
	const late = new ForkedWorker(1_234, 1_233);
	late.refused("it did not begin within 2 s");
	late.begun();
	expect(late.isStarted).toBe(false);
	const inTime = new ForkedWorker(1_235, 1_233);
	inTime.begun();
	inTime.refused("it did not begin within 2 s");
	expect(inTime.isStarted).toBe(true);
});

it("is not late if it had ended before its turn came, or has begun", async () => {
	const clock = new VirtualClock();
	const late: string[] = [];
	const ended = new ForkedWorker(1_234, 1_233);
	ended.ended(9);
	const begun = new ForkedWorker(1_235, 1_233);
	for (const one of [ended, begun]) {
		one.told(clock, (reason) => void late.push(reason));
	}
	begun.begun();
	await clock.advance(60_000);
	expect(late).toEqual([]);
	expect(ended.refusal).toBe("it ended before it began");
});
