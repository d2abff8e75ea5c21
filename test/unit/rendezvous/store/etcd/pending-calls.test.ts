import { describe, expect, it } from "vitest";
import {
	type Duplex,
	type OnEnd,
	PendingCalls,
} from "../../../../../src/rendezvous/store/etcd/pending-calls.js";
import { settle, VirtualClock } from "../../../../helpers/virtual-clock.js";

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
