import { describe, expect, it } from "vitest";
import {
	expectAnswer,
	expectBy,
} from "../../../../../src/rendezvous/store/etcd/pending-calls.js";
import { VirtualClock } from "../../../../helpers/virtual-clock.js";

/** Its timers ring this much later than they should, as those of a busy process do. */
class LateClock extends VirtualClock {
	lateMs = 0;

	override now(): number {
		return super.now() + this.lateMs;
	}
}

function expected(lateMs: number) {
	const clock = new LateClock(0);
	const missedAt: number[] = [];
	const cancel = expectBy(clock, 1_000, () => missedAt.push(clock.now()));
	clock.lateMs = lateMs;
	return { clock, missedAt, cancel };
}

it("gives what came in while the process was frozen time to be read", async () => {
	const { clock, missedAt } = expected(8_000);
	await clock.advance(1_000);
	expect(missedAt).toEqual([]);
	clock.lateMs = 0;
	await clock.advance(20_000);
	expect(missedAt).toHaveLength(1);
});

it.each([
	0, 8_000,
])("is not missed where it was cancelled, also after a delay of %i ms", async (lateMs) => {
	const { clock, missedAt, cancel } = expected(lateMs);
	await clock.advance(lateMs === 0 ? 500 : 1_000);
	cancel();
	await clock.advance(20_000);
	expect(missedAt).toEqual([]);
});

describe("an answer", () => {
	const TIME = { withinMs: 1_000, firstWithinMs: 2_500 };
	const NEVER = Number.NEGATIVE_INFINITY;

	it.each([
		[
			"over a connection that was heard",
			{ heardAt: 0, isReached: true },
			1_000,
		],
		[
			"over one that nobody accepts",
			{ heardAt: NEVER, isReached: false },
			1_000,
		],
		[
			"over one that must be greeted",
			{ heardAt: NEVER, isReached: true },
			2_500,
		],
	])("%s is missed after %o ms", async (_, connection, afterMs) => {
		const clock = new VirtualClock(0);
		const missed: number[] = [];
		expectAnswer(clock, connection, TIME, (waitedMs) => missed.push(waitedMs));
		await clock.advance(afterMs - 1);
		expect(missed).toEqual([]);
		await clock.advance(1);
		expect(missed).toEqual([afterMs]);
	});
});
