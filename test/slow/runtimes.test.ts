import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { beforeEach, describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { EventReader } from "../../src/channel/event-reader.js";
import { ReplyWatch } from "../../src/channel/reply-watch.js";
import { ReplyWriter } from "../../src/channel/reply-writer.js";
import { hearBy, WAYS, wayOf } from "../fixtures/doorbell.js";
import { LIBRARIES } from "../fixtures/python/libraries.js";
import { start, until } from "../fixtures/runtime-harness.js";
import { acting, RUNTIMES } from "../fixtures/runtimes.js";
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

describe.each(RUNTIMES)("a worker in $name", (runtime) => {
	beforeEach(runtime.need);

	it("learns of a round though it never lets anything else run", async () => {
		const { channel, begin, words } = await acting(runtime, "blocked");
		const worker = begin();
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2]);
		// A PAUSE that it read before WORK came is acknowledged too.
		const exceptPause = () => words().filter((word) => word !== "ACK 2");
		await until(exceptPause, ["HELLO", "ACK 1", "ACK 3"]);
	});

	it("does not wait behind a round of which the worker has only heard", async () => {
		const { channel, begin, words } = await acting(runtime, "hears_first");
		const worker = begin();
		await until(worker.lines, [1]);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, 2, 2]);
		await until(() => words().at(-1), "WORKING 2");
		expect(words()).not.toContainEqual(expect.stringContaining("WAITING"));
	});

	it("ends when its own work is done, though it listens", async () => {
		const { begin } = await acting(runtime, "background");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1]);
	});

	it("does not wait for an agent that is gone", async () => {
		const { channel, begin, words } = await acting(runtime, "gone");
		const worker = begin();
		await until(() => words().at(-1), "WAITING 1");
		channel.remove();
		expect(await worker.ended).toBe(0);
		const gone = ["CHANNEL", expect.stringContaining("its agent has ended")];
		expect(worker.lines()).toEqual([1, gone, gone, 1]);
	});

	it("acknowledges a PAUSE that it reads, and has its last place until WORK comes", async () => {
		const { channel, begin, words } = await acting(runtime, "paused");
		channel.send(pause(1), 2);
		const worker = begin();
		await until(worker.lines, [1, "PAUSED"]);
		await until(words, ["HELLO", "ACK 2"]);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual([1, "PAUSED", 2]);
		await until(words, ["HELLO", "ACK 2", "ACK 3"]);
	});

	it("of several processes loses no reply", async () => {
		const { channel, begin, replies } = await acting(runtime, "children");
		const worker = begin();
		expect(await worker.ended).toBe(0);
		const count = (wanted: string) =>
			replies.filter(({ kind }) => kind === wanted).length;
		await until(() => count("PROGRESS"), 160);
		expect(count("HELLO")).toBe(4);
		expect(replies).toHaveLength(164);
		expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
	});

	it("gets its place from torchrun's variables outside of elastic-run", async () => {
		const env = { RANK: "1", WORLD_SIZE: "2" };
		const worker = runtime.start("worker", { env, args: ["outside"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.outside.inPlace);
	});

	it("gives what a process group is made with; brackets are about an IPv6 address", async () => {
		const { channel, begin } = await acting(runtime, "parameters");
		const first = begin();
		expect(await first.ended).toBe(0);
		expect(first.lines()).toEqual([[2, 8, "tcp://10.0.0.1:40123"]]);
		const { workerInfo } = work(2);
		const info = { ...workerInfo, masterAddr: "fd00::7" };
		channel.send({ ...work(2), workerInfo: info }, 2);
		const second = begin();
		expect(await second.ended).toBe(0);
		expect(second.lines()).toEqual([[2, 8, "tcp://[fd00::7]:40123"]]);
	});

	it("is told how to launch where nobody has launched it; its reports go nowhere", async () => {
		const worker = runtime.start("worker", { args: ["outside"] });
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toEqual(runtime.outside.inNone);
		expect(worker.stderr()).toBe("");
	});
});

describe.each(RUNTIMES)("T13 a worker in $name", (runtime) => {
	beforeEach(runtime.need);

	it.for(WAYS)(
		"gets thousands of events in order, by %s",
		{ timeout: 240_000 },
		async (way, context) => {
			const COUNT = way === WAYS[1] ? 10_000 : 1_000;
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

it("agents of one name that come and go do not get in each other's way", async () => {
	const args = [temporaryDirectory()];
	const agents = [1, 2, 3].map(() => start("agents-in-turn", { args }));
	for (const agent of agents) expect(await agent.ended).toBe(0);
	expect(readdirSync(args[0] ?? "")).toEqual([]);
});

describe("T13 a full disk", () => {
	it("is an error that names the place; nothing is left, and the next event goes on", (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		const first = channel.send(work(1), 1);
		const reader = new EventReader(channel.directory, (warning) => {
			throw new Error(warning);
		});
		fill(disk);
		expect(() => channel.send(work(2, "x".repeat(5000)), 2)).toThrow(
			expect.objectContaining({
				code: "CHANNEL",
				message: expect.stringMatching(
					/ENOSPC: no space left on device.*Make room there, or set ELASTIC_RUN_DIR/,
				),
			}),
		);
		expect(reader.newest()).toEqual(first);
		expect(readdirSync(join(channel.directory, "tmp"))).toEqual([]);
		expect(() =>
			new ReplyWriter(channel.directory).write({ kind: "HELLO" }, 1),
		).toThrow(/ENOSPC/);

		rmSync(join(disk, "filler"));
		expect(channel.send(work(2), 3).sequence).toBe(2);
		expect(reader.newest().sequence).toBe(2);
	});
});

describe("T13 where there are no notifications", () => {
	it("an agent polls, and says so once", async (context) => {
		skipWithoutNamespaces(context);
		const args = [temporaryDirectory()];
		const agent = start("agent", { args, wrapper: NO_WATCHERS });
		await until(() => agent.lines().length, 1);
		const writer = new ReplyWriter(String(agent.lines()[0]));
		writer.write({ kind: "HELLO" }, 1);
		await until(() => agent.lines()[1], "HELLO");
		writer.write({ kind: "ACK", event: 1 }, 1);
		await until(() => agent.lines()[2], "ACK");
		expect(agent.stderr().match(/EMFILE/g)).toHaveLength(1);
	});
});
