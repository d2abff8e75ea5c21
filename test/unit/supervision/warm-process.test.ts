import { expect, it } from "vitest";
import { WarmProcess } from "../../../src/supervision/warm-process.js";

it("has not begun once it was given up, even if it says so afterwards", () => {
	const late = new WarmProcess(1_234, 1_233);
	late.refused("it did not begin within 2 s");
	late.begun();
	expect(late.isStarted).toBe(false);
	const inTime = new WarmProcess(1_235, 1_233);
	inTime.begun();
	inTime.refused("it did not begin within 2 s");
	expect(inTime.isStarted).toBe(true);
});
