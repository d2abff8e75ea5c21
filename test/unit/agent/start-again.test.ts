import { expect, it } from "vitest";
import { StartAgain } from "../../../src/agent/workers/start-again.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

it("starts no worker without a lease, also if only this start finds its loss (seeds 3519, 44188)", async () => {
	const clock = new VirtualClock(0);
	const started: string[] = [];
	let isHeld = true;
	const again = new StartAgain<string>({
		clock,
		holdsLease: () => isHeld,
		start: (workers) => void started.push(...workers),
		warn: () => {},
	});
	again.add(["one"], "no more processes");
	await clock.advance(250);
	expect(started).toEqual(["one"]);
	again.add(["other"], "no more processes");
	isHeld = false;
	await clock.advance(20_000);
	expect(started).toEqual(["one"]);
	expect(again.cancel("other")).toBe(true);
});
