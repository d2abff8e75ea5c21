// Processes, threads and signals of a Python worker. Nobody reads what they say before the test does.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { ReceivedReply } from "../../src/channel/events.js";
import { needPython, startPython } from "../fixtures/python/start-python.js";
import { until } from "../fixtures/runtime-harness.js";
import { pause, temporaryRoot, work } from "../unit/channel/samples.js";

beforeEach(needPython);

describe("a Python worker's helpers do not speak for it", () => {
	it("forks, while it listens and iterates and its threads hold locks", async () => {
		const { channel, acknowledged, count } = open();
		const worker = startPython("helper", {
			channel,
			args: ["forks"],
			// Newer ones warn of forks beside threads, with reason.
			pythonOptions: ["-W", "ignore::DeprecationWarning"],
		});
		await until(acknowledged, [1]);
		channel.send(pause(1), 2);
		await until(() => worker.lines().length, 20);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		const forks = Array(20).fill([1, "PAUSE"]);
		expect(worker.lines()).toEqual([...forks, 2]);
		expect(worker.stderr()).toBe("");
		expect(acknowledged()).toEqual([1, 2, 3]);
		expect([count("HELLO"), count("PROGRESS")]).toEqual([1, 20]);
		// The worker itself, unless the next round was there when it asked.
		expect(count("WAITING")).toBeLessThanOrEqual(1);
	});

	it.for([
		"fork",
		"spawn",
		"forkserver",
	])("multiprocessing's, by %s", async (method) => {
		const { channel, acknowledged, count } = open();
		const args = ["multiprocesses", method];
		const worker = startPython("helper", { channel, args });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([[1, "WORK"], 0]);
		expect([count("HELLO"), count("WAITING")]).toEqual([1, 0]);
		expect(count("PROGRESS")).toBe(1);
		expect(acknowledged()).toEqual([1]);
	});

	it("but may listen for themselves", async () => {
		const { channel, acknowledged } = open();
		const worker = startPython("helper", { channel, args: ["forks_listener"] });
		await until(() => worker.lines()[0], "listens");
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()[1]).toEqual([1, 2, 3]);
		expect(acknowledged()).toEqual([1]);
	});
});

it("a Python worker of several threads loses no reply, and says nothing twice", async () => {
	const { channel, acknowledged, count } = open();
	const worker = startPython("worker", { channel, args: ["threads"] });
	expect(await worker.ended).toBe(0);
	expect([count("HELLO"), count("PROGRESS")]).toEqual([1, 80]);
	expect(acknowledged()).toEqual([1]);
});

it("a Python worker whose signals come all the time works on", async () => {
	const { channel, count } = open();
	const worker = startPython("worker", { channel, args: ["interrupted"] });
	await until(() => count("WAITING"), 1);
	channel.send(work(2), 2);
	expect(await worker.ended).toBe(0);
	expect(worker.stderr()).toBe("");
	const [round, reported] = worker.lines() as [number, readonly number[]];
	expect([round, reported[1]]).toEqual([2, 1]);
	// Of more than that the newest would be in another file.
	expect(count("PROGRESS")).toBe(Math.min(reported[0] ?? 0, 256));
});

/** A channel with its first event. */
function open() {
	const channel = temporaryRoot().createWorker(0);
	channel.send(work(1), 1);
	const replies = join(channel.directory, "replies");
	const said = () =>
		readdirSync(replies)
			.sort()
			.map(
				(name): ReceivedReply =>
					JSON.parse(readFileSync(join(replies, name), "utf8")),
			);
	const count = (kind: ReceivedReply["kind"]) =>
		said().filter((reply) => reply.kind === kind).length;
	/** Which events, in the order in which it was said. */
	const acknowledged = () =>
		said().flatMap((reply) => (reply.kind === "ACK" ? [reply.event] : []));
	return { channel, count, acknowledged };
}
