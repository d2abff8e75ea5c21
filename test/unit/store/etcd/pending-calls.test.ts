import { describe, expect, it } from "vitest";
import {
	callTime,
	type Duplex,
	expectAnswer,
	expectBy,
	keepaliveTime,
	type OnEnd,
	PendingCalls,
} from "../../../../src/store/etcd/pending-calls.js";
import { settle, VirtualClock } from "../../../helpers/virtual-clock.js";

it.each([
	[undefined, 1_000, 2_000],
	[1_000, 1_000, 2_000],
	[5_000, 1_000, 2_000],
	[15_000, 3_000, 6_000],
	[60_000, 5_000, 10_000],
])("with leases of %s ms a call has %i ms, and a first one %i", (ttlMs, withinMs, firstWithinMs) => {
	expect(callTime(ttlMs)).toEqual({ withinMs, firstWithinMs });
});

it("leaves time to lose a connection, and to be greeted over the next one, before the lease is not relied on any more", () => {
	for (const ttlMs of [5_000, 15_000, 60_000]) {
		const { withinMs, firstWithinMs } = keepaliveTime(ttlMs);
		const sentMs = ttlMs / 5;
		const longestPauseMs = 100;
		const overMs = sentMs + withinMs + longestPauseMs + firstWithinMs;
		expect(overMs).toBeLessThan(0.8 * ttlMs);
	}
});

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

const TIME = { withinMs: 1_000, firstWithinMs: 2_000 };
const BROKEN = { code: 14, details: "Connection dropped" };

function underway() {
	const clock = new VirtualClock(0);
	const connection = { heardAt: 0, isReached: true };
	return { clock, underway: new PendingCalls(clock, connection) };
}

/** The outcome of a promise, as far as there is one. */
function watch(promise: Promise<unknown>): { outcome: unknown } {
	const watched: { outcome: unknown } = { outcome: "none" };
	promise.then(
		(value) => {
			watched.outcome = value;
		},
		(error: unknown) => {
			watched.outcome = error;
		},
	);
	return watched;
}

const never = () => new Promise<never>(() => {});

describe("a call", () => {
	it("settles with its answer, and leaves no timer", async () => {
		const { clock, underway: all } = underway();
		expect(await all.call(async () => "answer", TIME)).toBe("answer");
		expect(clock.nextAlarm).toBeUndefined();
	});

	it("settles when its time is over, though nothing is heard of it", async () => {
		const { clock, underway: all } = underway();
		const watched = watch(all.call(never, TIME));
		await clock.advance(999);
		expect(watched.outcome).toBe("none");
		await clock.advance(1);
		expect(watched.outcome).toMatchObject({
			status: { code: 4, details: "no answer within 1 s" },
		});
	});

	it("settles with all others at their connection's end, and none is started after it", async () => {
		const { underway: all } = underway();
		const calls = [all.call(never, TIME), all.call(never, TIME)].map(watch);
		all.endAll(BROKEN);
		await settle();
		for (const { outcome } of calls) {
			expect(outcome).toMatchObject({ status: BROKEN });
		}
		let isStarted = false;
		const late = all.call(() => {
			isStarted = true;
			return never();
		}, TIME);
		await expect(late).rejects.toMatchObject({ status: BROKEN });
		expect(isStarted).toBe(false);
	});
});

describe("a stream", () => {
	/** What etcd3 would give, with what was done to it. */
	function duplexOf() {
		const done: string[] = [];
		let hear: (answer: string) => void = () => {};
		const duplex: Duplex<string, string> = {
			write: (request) => void done.push(`write ${request}`),
			end: () => void done.push("end"),
			cancel: () => void done.push("cancel"),
			on: (event: string, listener: (value: never) => void) => {
				if (event === "data") hear = listener as typeof hear;
			},
		};
		return { duplex, done, say: (answer: string) => hear(answer) };
	}

	function streamOf() {
		const { underway: all } = underway();
		const { duplex, done, say } = duplexOf();
		const told: unknown[] = [];
		let end: OnEnd = () => {};
		const stream = all.stream<string, string>(
			async (onEnd) => {
				end = onEnd;
				return duplex;
			},
			{
				onAnswer: (answer) => told.push(answer),
				onEnd: (status) => told.push(status),
			},
		);
		return {
			all,
			stream,
			done,
			say,
			told,
			end: (status: typeof BROKEN) => end(status),
		};
	}

	it("sends what was written before it was open, and then the rest", async () => {
		const { stream, done } = streamOf();
		stream.write("early");
		await settle();
		stream.write("late");
		expect(done).toEqual(["write early", "write late"]);
	});

	it("tells its answers and, once, its end; is ended before it is cancelled", async () => {
		const { stream, done, say, told, end } = streamOf();
		await settle();
		say("one");
		end(BROKEN);
		end(BROKEN);
		say("two");
		stream.write("three");
		expect(told).toEqual(["one", BROKEN]);
		expect(done).toEqual(["end", "cancel"]);
	});

	it("ends with its connection", async () => {
		const { all, told } = streamOf();
		all.endAll(BROKEN);
		expect(told).toEqual([BROKEN]);
	});
});
