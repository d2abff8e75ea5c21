// Processes, threads and signals of a Python worker.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import type { ReceivedReply } from "../../src/channel/events.js";
import { watchReplies } from "../../src/channel/watch-replies.js";
import { systemClock } from "../../src/clock.js";
import { needPython, startPython } from "../fixtures/python/start-python.js";
import { until } from "../fixtures/runtime-harness.js";
import { pause, temporaryRoot, work } from "../unit/channel/samples.js";

beforeEach(needPython);

describe("a Python worker's helpers do not speak for it", () => {
	it("forks, while it listens and iterates and its threads hold locks", async () => {
		const { channel, replies, count } = await agent();
		channel.send(work(1), 1);
		const worker = startPython("helper", {
			channel,
			args: ["forks"],
			// Newer ones warn of forks beside threads, with reason.
			pythonOptions: ["-W", "ignore::DeprecationWarning"],
		});
		await until(() => acknowledged(replies), [1]);
		channel.send(pause(1), 2);
		await until(() => worker.lines().length, 20);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		const forks = Array(20).fill([1, "PAUSE"]);
		expect(worker.lines()).toEqual([...forks, 2]);
		await until(() => acknowledged(replies), [1, 2, 3]);
		expect(worker.stderr()).toBe("");
		expect([count("HELLO"), count("PROGRESS")]).toEqual([1, 20]);
		expect(replies.filter(isWaiting).map(({ round }) => round)).toEqual([1]);
	});

	it.for([
		"fork",
		"spawn",
		"forkserver",
	])("multiprocessing's, by %s", async (method) => {
		const { channel, replies, count } = await agent();
		channel.send(work(1), 1);
		const args = ["multiprocesses", method];
		const worker = startPython("helper", { channel, args });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([[1, "WORK"], 0]);
		await until(() => count("PROGRESS"), 1);
		expect([count("HELLO"), count("WAITING")]).toEqual([1, 0]);
		expect(acknowledged(replies)).toEqual([1]);
	});

	it("but may listen for themselves", async () => {
		const { channel, replies } = await agent();
		channel.send(work(1), 1);
		const worker = startPython("helper", { channel, args: ["forks_listener"] });
		await until(() => worker.lines()[0], "listens");
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()[1]).toEqual([1, 2, 3]);
		expect(acknowledged(replies)).toEqual([1]);
	});
});

it("a Python worker of several processes loses no reply", async () => {
	// Nobody reads what they say before all of it was said.
	const channel = temporaryRoot().createWorker(0);
	channel.send(work(1), 1);
	const worker = startPython("worker", { channel, args: ["children"] });
	expect(await worker.ended).toBe(0);
	const replies = join(channel.directory, "replies");
	const kinds = readdirSync(replies).map(
		(name) => JSON.parse(readFileSync(join(replies, name), "utf8")).kind,
	);
	expect(kinds.filter((kind) => kind === "PROGRESS")).toHaveLength(160);
	expect(kinds.filter((kind) => kind === "HELLO")).toHaveLength(4);
	expect(kinds).toHaveLength(164);
	expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
});

it("a Python worker of several threads loses no reply, and says nothing twice", async () => {
	const { channel, replies, count } = await agent();
	channel.send(work(1), 1);
	const worker = startPython("worker", { channel, args: ["threads"] });
	expect(await worker.ended).toBe(0);
	await until(() => count("PROGRESS"), 80);
	expect(count("HELLO")).toBe(1);
	expect(acknowledged(replies)).toEqual([1]);
});

it("a Python worker whose signals come all the time works on", async () => {
	const { channel, count } = await agent();
	channel.send(work(1), 1);
	const worker = startPython("worker", { channel, args: ["interrupted"] });
	await until(() => count("WAITING"), 1);
	channel.send(work(2), 2);
	expect(await worker.ended).toBe(0);
	expect(worker.stderr()).toBe("");
	const [round, reported] = worker.lines() as [number, readonly number[]];
	expect([round, reported[1]]).toEqual([2, 1]);
	await until(() => count("PROGRESS"), reported[0]);
});

async function agent() {
	const root = temporaryRoot();
	const channel = root.createWorker(0);
	const replies: ReceivedReply[] = [];
	const watch = await watchReplies(
		root,
		(_directory, reply) => replies.push(reply),
		{ clock: systemClock, warn: (warning) => expect.fail(warning) },
	);
	onTestFinished(() => watch.close());
	const count = (kind: ReceivedReply["kind"]) =>
		replies.filter((reply) => reply.kind === kind).length;
	return { channel, replies, count };
}

/** Which events, in the order in which the agent heard of it. */
function acknowledged(replies: readonly ReceivedReply[]): readonly number[] {
	return replies.flatMap((reply) =>
		reply.kind === "ACK" ? [reply.event] : [],
	);
}

function isWaiting(
	reply: ReceivedReply,
): reply is ReceivedReply & { readonly kind: "WAITING" } {
	return reply.kind === "WAITING";
}
