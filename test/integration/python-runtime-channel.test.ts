import { readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { watchReplies } from "../../src/channel/watch-replies.js";
import { hearBy, WAYS, wayOf } from "../fixtures/doorbell.js";
import { openPython } from "../fixtures/python/libraries.js";
import { needPython, startPython } from "../fixtures/python/start-python.js";
import { start, until } from "../fixtures/runtime-harness.js";
import {
	fill,
	MEMORY,
	NO_WATCHERS,
	skipWithoutNamespaces,
	smallDisk,
} from "../fixtures/scarcity.js";
import {
	pause,
	temporaryDirectory,
	temporaryRoot,
	work,
} from "../unit/channel/samples.js";

beforeEach(needPython);

it.for(WAYS)(
	"T13 ten thousand events reach a Python worker in order, by %s",
	{ timeout: 240_000 },
	async (way, context) => {
		const COUNT = 10_000;
		const root = temporaryRoot(temporaryDirectory(MEMORY));
		const channel = root.createWorker(0);
		await hearBy(way, root, channel, context);
		let acknowledged = 0;
		const watch = await watchReplies(
			root,
			(_directory, reply) => {
				if (reply.kind === "ACK") acknowledged = reply.event;
			},
			{ clock: systemClock, warn: (warning) => expect.fail(warning) },
		);
		onTestFinished(() => watch.close());
		channel.send(work(1), 1);
		const worker = startPython("reader", { channel, args: [String(COUNT)] });
		await until(() => worker.lines()[0], 1);
		for (let round = 2; round <= COUNT; round++) {
			// The agent's own back-pressure: 64 are kept on disk.
			while (round - acknowledged > 60) await delay(1);
			channel.send(work(round), round);
			channel.ring();
			if (round === COUNT / 2) expect(wayOf(worker.process.pid)).toBe(way);
		}
		expect(await worker.ended).toBe(0);
		expect(worker.stderr()).toBe("");
		expect(worker.lines()).toContainEqual({ count: COUNT, inOrder: true });
	},
);

it("T13 a Python reader during writes never sees a part of an event", async () => {
	const channel = temporaryRoot(temporaryDirectory(MEMORY)).createWorker(0);
	channel.send(work(1), 1);
	const args = ["2000"];
	const reader = startPython("torn_reader", { channel, args });
	await until(() => reader.lines()[0], "ready");
	for (let round = 2; round <= 2000; round++) {
		channel.send(work(round, "x".repeat(round * 37)), round);
	}
	expect(await reader.ended).toBe(0);
	expect(reader.lines()).toContainEqual({ many: true, problems: [] });
});

describe("T13 an agent that is killed while it sends", () => {
	it.for([
		["within write", 2],
		["before rename 1", 2],
		["after rename 1", 3],
		["before rename 2", 3],
		["after rename 2", 3],
	] as const)("%s leaves whole events only", async ([
		point,
		newest,
	], context) => {
		const agent = start("killed-agent", {
			args: [temporaryDirectory(), point],
		});
		expect(await agent.ended).toBe("SIGKILL");
		const directory = String(agent.lines()[0]);
		const library = openPython(context);
		const late = await library.openReader(directory);
		expect(await late.newest()).toBe(newest);
		const inOrder = await library.openReader(directory);
		for (let sequence = 1; sequence <= newest; sequence++) {
			expect(await inOrder.next(sequence - 1)).toBe(sequence);
		}
		expect(await inOrder.next(newest)).toBeNull();
		expect(await inOrder.warnings()).toEqual([]);
	});
});

describe("T13 a full disk", () => {
	it("does not end a Python worker, which is warned", async (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		channel.send(work(1), 1);
		fill(disk);
		const worker = startPython("worker", { channel, args: ["reports"] });
		expect(await worker.ended).toBe(0);
		for (const kind of ["HELLO", "PROGRESS", "ACK", "ERROR"]) {
			expect(worker.stderr()).toMatch(
				new RegExp(`cannot be told ${kind} through .*: ENOSPC: No space left`),
			);
		}
		expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
	});

	it("is said once, however often it is met", async (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		channel.send(work(1), 1);
		fill(disk);
		for (const filter of ["always", "error"]) {
			const pythonOptions = ["-W", filter];
			const args = ["steps"];
			const worker = startPython("worker", { channel, args, pythonOptions });
			expect(await worker.ended).toBe(0);
			const warnings = worker.stderr().match(/cannot be told PROGRESS/g);
			expect(warnings).toHaveLength(1);
		}
	});
});

describe("T13 where there are no notifications", () => {
	it("a Python worker polls, and says so once", async (context) => {
		skipWithoutNamespaces(context);
		const channel = temporaryRoot().createWorker(0);
		channel.send(work(1), 1);
		const worker = startPython("reader", {
			channel,
			args: ["3"],
			wrapper: NO_WATCHERS,
		});
		await until(() => worker.stderr().includes("each 150 ms"), true);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toContainEqual({ count: 3, inOrder: true });
		expect(worker.stderr().match(/EMFILE/g)).toHaveLength(1);
	});

	it("a Python without ctypes polls, and says so once", async () => {
		const channel = temporaryRoot().createWorker(0);
		channel.send(work(1), 1);
		const worker = startPython("worker", { channel, args: ["without_ctypes"] });
		await until(() => worker.stderr().includes("each 150 ms"), true);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2, 3]);
		expect(worker.stderr().match(/for want of notifications/g)).toHaveLength(1);
	});
});

it.for([2, 10, 30])("two events %i ms apart are both seen", async (gapMs) => {
	const channel = temporaryRoot().createWorker(0);
	channel.send(work(1), 1);
	const worker = startPython("reader", { channel, args: ["3"] });
	await until(() => worker.lines()[0], 1);
	channel.send(pause(1), 2);
	await delay(gapMs);
	channel.send(work(2), 3);
	expect(await worker.ended).toBe(0);
	expect(worker.lines()).toContainEqual({ count: 3, inOrder: true });
});
