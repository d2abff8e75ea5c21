import { expect, it } from "vitest";
import { singleEventSource } from "../../../src/runtime/event-source.js";
import { eventFromVariables } from "../../../src/runtime/torchrun-event.js";
import { waitForWork } from "../../../src/runtime/wait-for-work.js";
import { WorkerSession } from "../../../src/runtime/worker-session.js";
import { pause, work } from "../channel/samples.js";
import { FakeSource, settle } from "./fake-source.js";

it("waits behind a PAUSE for the WORK that ends it", async () => {
	const source = new FakeSource();
	const session = source.session(work(1));
	await waitForWork(session, {});
	source.put(pause(1));
	const waiting = waitForWork(session, {});
	await settle();
	expect(source.words).toEqual(["HELLO", "ACK 1", "ACK 2", "WAITING 1"]);
	source.send(work(2));
	expect((await waiting).round).toBe(2);
	expect(source.words.at(-1)).toBe("ACK 3");
	expect(source.lookers.size).toBe(0);
});

it("waits for the PAUSE, too, where the worker was the first to notice", async () => {
	const source = new FakeSource();
	const session = source.session(work(4));
	session.show(session.newest());
	session.acknowledge(session.newest());
	const waiting = waitForWork(session, {});
	await settle();
	source.send(pause(4));
	await settle();
	source.send(work(5));
	expect((await waiting).round).toBe(5);
	expect(source.words).toEqual([
		"HELLO",
		"ACK 1",
		"WAITING 4",
		"ACK 2",
		"ACK 3",
	]);
});

it("does not wait behind a round that only a listener or a later look has seen", async () => {
	const source = new FakeSource();
	const session = source.session(work(1));
	await waitForWork(session, {});
	source.put(pause(1));
	source.put(work(2));
	session.show(session.newest());
	session.acknowledge(session.newest());
	expect((await waitForWork(session, {})).round).toBe(2);
	expect(source.words).toEqual(["HELLO", "ACK 1", "ACK 3", "WORKING 2"]);
});

it("says once more that it waits where a round has come that is too early", async () => {
	const source = new FakeSource();
	const session = source.session(work(1), pause(1));
	const waiting = waitForWork(session, { afterRound: 2 });
	await settle();
	source.send(work(2));
	await settle();
	source.send(pause(2));
	await settle();
	source.send(work(3));
	expect((await waiting).round).toBe(3);
	const heard = ["ACK 2", "WAITING 1", "ACK 3", "WAITING 2", "ACK 4", "ACK 5"];
	expect(source.words).toEqual(["HELLO", ...heard]);
});

it("ends with TIMEOUT, which says what there is", async () => {
	const source = new FakeSource();
	const session = source.session(work(1), pause(1));
	await expect(waitForWork(session, { timeoutMs: 1 })).rejects.toMatchObject({
		code: "TIMEOUT",
		message: expect.stringMatching(
			/after 0 within 1 ms; the newest event is PAUSE of round 1 \(node-b left/,
		),
	});
	expect(source.words).toEqual(["HELLO", "ACK 2", "WAITING 1", "WAITED"]);
	expect(source.lookers.size).toBe(0);
});

it("is rejected with the signal's reason", async () => {
	const source = new FakeSource();
	const session = source.session(pause(1));
	const controller = new AbortController();
	const waiting = waitForWork(session, { signal: controller.signal });
	controller.abort(new Error("enough"));
	await expect(waiting).rejects.toThrow("enough");
	expect(source.words.at(-1)).toBe("WAITED");
	expect(source.lookers.size).toBe(0);
	const again = waitForWork(session, { signal: controller.signal });
	await expect(again).rejects.toThrow("enough");
});

it("does not wait for ever under another launcher", async () => {
	const variables = { RANK: "0", WORLD_SIZE: "1" };
	const session = new WorkerSession(
		singleEventSource(eventFromVariables(variables, 5)),
	);
	expect((await waitForWork(session, {})).round).toBe(1);
	await expect(waitForWork(session, {})).rejects.toMatchObject({
		code: "NOT_LAUNCHED",
		message: expect.stringContaining("no round after 1"),
	});
});
