import { describe, expect, it, onTestFinished } from "vitest";
import type { WorkerEvent } from "../../../src/channel/events.js";
import { deliver, iterateEvents } from "../../../src/runtime/listen.js";
import type { WorkerSession } from "../../../src/runtime/worker-session.js";
import { pause, work } from "../channel/samples.js";
import { FakeSource, settle } from "./fake-source.js";

describe("a listener", () => {
	it("starts with the newest event that was not received, and gets all after it", async () => {
		const source = new FakeSource();
		const got = listen(source, source.session(work(1), pause(1)));
		await settle();
		expect(got).toEqual([2]);
		source.send(work(2));
		source.send(pause(2));
		await settle();
		expect(got).toEqual([2, 3, 4]);
		expect(source.words).toEqual(["HELLO", "ACK 2", "ACK 3", "ACK 4"]);
	});

	it("gets the next event when its promise is resolved, which acknowledges", async () => {
		const source = new FakeSource();
		let resolve: () => void = () => {};
		const got = listen(source, source.session(work(1)), () => {
			return new Promise<void>((done) => {
				resolve = done;
			});
		});
		source.send(pause(1));
		await settle();
		expect(got).toEqual([1]);
		expect(source.words).toEqual(["HELLO"]);
		resolve();
		await settle();
		expect(got).toEqual([1, 2]);
		expect(source.words).toEqual(["HELLO", "ACK 1"]);
	});

	it("that throws does not acknowledge, surfaces its error, and hears on", async () => {
		const surfaced: unknown[] = [];
		const kept = process.listeners("unhandledRejection");
		process.removeAllListeners("unhandledRejection");
		process.on("unhandledRejection", (reason) => surfaced.push(reason));
		onTestFinished(() => {
			process.removeAllListeners("unhandledRejection");
			for (const listener of kept) process.on("unhandledRejection", listener);
		});
		const source = new FakeSource();
		const problem = new Error("the user's own");
		const got = listen(source, source.session(work(1)), (event) => {
			if (event.kind === "WORK") throw problem;
		});
		await settle();
		expect(source.words).toEqual(["HELLO"]);
		source.send(pause(1));
		await settle();
		expect(got).toEqual([1, 2]);
		expect(source.words).toEqual(["HELLO", "ACK 2"]);
		expect(surfaced).toEqual([problem]);
	});
});

describe("the iterator", () => {
	it("yields every event from the first, though others were received", async () => {
		const source = new FakeSource();
		const session = source.session(work(1), pause(1));
		session.acknowledge(session.newest());
		const got: number[] = [];
		for await (const event of iterateEvents(session, undefined)) {
			got.push(event.sequence);
			if (event.sequence === 2) source.put(work(2));
			if (event.sequence === 3) setImmediate(() => source.send(pause(2)));
			if (event.sequence === 4) break;
		}
		expect(got).toEqual([1, 2, 3, 4]);
		expect(source.words).toEqual(["HELLO", "ACK 2", "ACK 3", "ACK 4"]);
		expect(source.lookers.size).toBe(0);
	});

	it("ends when its signal is aborted", async () => {
		const source = new FakeSource();
		const controller = new AbortController();
		const session = source.session(work(1));
		const events = iterateEvents(session, controller.signal);
		await events.next();
		const pending = events.next();
		controller.abort();
		expect(await pending).toEqual({ done: true, value: undefined });
		expect(source.lookers.size).toBe(0);
		const late = iterateEvents(session, controller.signal);
		expect((await late.next()).done).toBe(true);
	});
});

function listen(
	source: FakeSource,
	session: WorkerSession,
	act: (event: WorkerEvent) => unknown = () => {},
): number[] {
	const got: number[] = [];
	const cursor = session.cursorAtUnreceived();
	void deliver(session, cursor, (event) => {
		got.push(event.sequence);
		return act(event);
	});
	onTestFinished(() => {
		cursor.close();
		expect(source.lookers.size).toBe(0);
	});
	return got;
}
