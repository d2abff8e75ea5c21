// T13: the channel as real workers of all languages read it.
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { ReplyWatch } from "../../src/channel/reply-watch.js";
import { hearBy, WAYS, wayOf } from "../fixtures/doorbell.js";
import { hearingAgent } from "../fixtures/hearing-agent.js";
import { LIBRARIES } from "../fixtures/python/libraries.js";
import { start, until } from "../fixtures/runtime-harness.js";
import { RUNTIMES } from "../fixtures/runtimes.js";
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

describe.each(RUNTIMES)("T13 a worker in $name", (runtime) => {
	beforeEach(runtime.need);

	it.for(WAYS)(
		"gets ten thousand events in order, by %s",
		{ timeout: 240_000 },
		async (way, context) => {
			const COUNT = 10_000;
			const root = temporaryRoot(temporaryDirectory(MEMORY));
			const channel = root.createWorker(0);
			await hearBy(way, root, channel, context);
			let acknowledged = 0;
			const watch = new ReplyWatch(
				root,
				(_directory, reply) => {
					if (reply.kind === "ACK") acknowledged = reply.event;
				},
				{ clock: systemClock, warn: (warning) => expect.fail(warning) },
			);
			onTestFinished(() => watch.close());
			await watch.open();
			channel.send(work(1), 1);
			const args = [String(COUNT)];
			const worker = runtime.start("reader", { channel, args });
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

	it("never sees a part of an event while it reads during writes", async () => {
		const channel = temporaryRoot(temporaryDirectory(MEMORY)).createWorker(0);
		channel.send(work(1), 1);
		const reader = runtime.start("torn-reader", { channel, args: ["2000"] });
		await until(() => reader.lines()[0], "ready");
		for (let round = 2; round <= 2000; round++) {
			channel.send(work(round, "x".repeat(round * 37)), round);
		}
		expect(await reader.ended).toBe(0);
		expect(reader.lines()).toContainEqual({ many: true, problems: [] });
	});

	it("sees both of two events, however close they are", async () => {
		const { channel, words } = await hearingAgent();
		channel.send(work(1), 1);
		const worker = runtime.start("reader", { channel, args: ["7"] });
		await until(() => worker.lines()[0], 1);
		for (const [index, gapMs] of [2, 10, 30].entries()) {
			const last = 3 + 2 * index;
			channel.send(pause(last - 2), last - 1);
			await delay(gapMs);
			channel.send(work(last), last);
			await until(() => words().includes(`ACK ${last}`), true);
		}
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toContainEqual({ count: 7, inOrder: true });
	});

	it("is not ended by a full disk, of which it is warned", async (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		channel.send(work(1), 1);
		fill(disk);
		const worker = runtime.start("worker", { channel, args: ["reports"] });
		expect(await worker.ended).toBe(0);
		for (const kind of ["HELLO", "PROGRESS", "ACK", "ERROR"]) {
			expect(worker.stderr()).toMatch(
				new RegExp(
					`cannot be told ${kind} through .*: ENOSPC: no space left`,
					"i",
				),
			);
		}
		expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
	});

	it("polls where there are no notifications, and says so once", async (context) => {
		skipWithoutNamespaces(context);
		const channel = temporaryRoot().createWorker(0);
		channel.send(work(1), 1);
		const args = ["3"];
		const wrapper = NO_WATCHERS;
		const worker = runtime.start("reader", { channel, args, wrapper });
		await until(() => worker.stderr().includes("each 150 ms"), true);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toContainEqual({ count: 3, inOrder: true });
		expect(worker.stderr().match(/EMFILE/g)).toHaveLength(1);
	});
});

describe("T13 an agent that is killed while it sends", () => {
	it.for([
		["within write", 2],
		["before rename 1", 2],
		["after rename 1", 3],
		["before rename 2", 3],
		["after rename 2", 3],
	] as const)("%s leaves whole events only, in every language, and the next agent takes them away", async ([
		point,
		newest,
	], context) => {
		const base = temporaryDirectory();
		const agent = start("killed-agent", { args: [base, point] });
		expect(await agent.ended).toBe("SIGKILL");
		const directory = String(agent.lines()[0]);
		for (const [, open] of LIBRARIES) {
			const library = open(context);
			const late = await library.openReader(directory);
			expect(await late.newest()).toBe(newest);
			const inOrder = await library.openReader(directory);
			for (let sequence = 1; sequence <= newest; sequence++) {
				expect(await inOrder.next(sequence - 1)).toBe(sequence);
			}
			expect(await inOrder.next(newest)).toBeNull();
			expect(await late.warnings()).toEqual([]);
			expect(await inOrder.warnings()).toEqual([]);
		}
		const next = temporaryRoot(base);
		expect(existsSync(directory)).toBe(false);
		next.remove();
	});
});
