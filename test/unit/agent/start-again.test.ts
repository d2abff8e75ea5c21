import { expect, it } from "vitest";
import { StartAgain } from "../../../src/agent/workers/start-again.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

/** A process that was frozen until now: all that fell due rings at once. */
class FrozenClock extends VirtualClock {
	frozenMs = 0;

	override now(): number {
		return super.now() + this.frozenMs;
	}
}

it("an agent that was frozen learns first whether it still has its lease (seed 3519)", async () => {
	const clock = new FrozenClock(0);
	const started: string[] = [];
	const again = new StartAgain<string>({
		clock,
		start: (workers) => void started.push(...workers),
		warn: () => {},
	});
	again.add(["worker"], "no more processes");
	clock.frozenMs = 9_000;
	await clock.advance(250);
	expect(started).toEqual([]);
	clock.frozenMs = 0;
	await clock.advance(9_250);
	expect(started).toEqual(["worker"]);
});
