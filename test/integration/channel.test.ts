import { existsSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { EventReader } from "../../src/channel/event-reader.js";
import type { ReceivedReply } from "../../src/channel/events.js";
import { ReplyWriter } from "../../src/channel/reply-writer.js";
import { watchReplies } from "../../src/channel/watch-replies.js";
import { hearBy, WAYS, wayOf } from "../fixtures/doorbell.js";
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

it.for(WAYS)(
	"T13 ten thousand events reach a real worker in order, by %s",
	{ timeout: 240_000 },
	async (way, context) => {
		const COUNT = 10_000;
		const { root, channel, acknowledged } = await openAgent(MEMORY);
		await hearBy(way, root, channel, context);
		channel.send(work(1), 1);
		const worker = start("reader", { channel, args: [String(COUNT)] });
		await until(() => worker.lines()[0], 1);
		for (let round = 2; round <= COUNT; round++) {
			// The agent's own back-pressure: 64 are kept on disk.
			while (round - acknowledged() > 60) await delay(1);
			channel.send(work(round), round);
			channel.ring();
			if (round === COUNT / 2) expect(wayOf(worker.process.pid)).toBe(way);
		}
		expect(await worker.ended).toBe(0);
		expect(worker.stderr()).toBe("");
		expect(worker.lines()).toContainEqual({ count: COUNT, inOrder: true });
	},
);

it("T13 a reader during writes never sees a part of an event", async () => {
	const { channel } = await openAgent(MEMORY);
	channel.send(work(1), 1);
	const reader = start("torn-reader", { channel, args: ["2000"] });
	await until(() => reader.lines()[0], "ready");
	for (let round = 2; round <= 2000; round++) {
		channel.send(work(round, "x".repeat(round * 37)), round);
	}
	expect(await reader.ended).toBe(0);
	expect(reader.lines()).toContainEqual({ many: true, problems: [] });
});

describe("T13 an agent that is killed while it sends", () => {
	it.each([
		["within write", 2],
		["before rename 1", 2],
		["after rename 1", 3],
		["before rename 2", 3],
		["after rename 2", 3],
	])("%s leaves whole events only", async (point, newest) => {
		const base = temporaryDirectory();
		const agent = start("killed-agent", { args: [base, point] });
		expect(await agent.ended).toBe("SIGKILL");
		const directory = String(agent.lines()[0]);
		const warnings: string[] = [];
		const warn = (warning: string) => void warnings.push(warning);
		const late = new EventReader(directory, warn);
		expect(late.newest().sequence).toBe(newest);
		const inOrder = new EventReader(directory, warn);
		for (let sequence = 1; sequence <= newest; sequence++) {
			expect(inOrder.next(sequence - 1)?.sequence).toBe(sequence);
		}
		expect(inOrder.next(newest)).toBeUndefined();
		expect(warnings).toEqual([]);

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

	it("does not end a worker, which is warned", async (context) => {
		const disk = smallDisk(context);
		const channel = temporaryRoot(disk).createWorker(0);
		channel.send(work(1), 1);
		fill(disk);
		const worker = start("worker", { channel, args: ["reports"] });
		expect(await worker.ended).toBe(0);
		for (const kind of ["HELLO", "PROGRESS", "ACK", "ERROR"]) {
			expect(worker.stderr()).toContain(`cannot be told ${kind}`);
		}
	});

	it("makes no half of a channel ahead of its worker", (context) => {
		const disk = smallDisk(context, "nr_inodes=20");
		const root = temporaryRoot(disk);
		for (let rank = 0; rank < 20; rank += 1) root.createAhead(rank);
		const made = readdirSync(root.directory).filter((name) =>
			name.startsWith("w"),
		);
		expect(made.length).toBeGreaterThan(0);
		expect(made.length).toBeLessThan(20);
		for (const name of made) {
			expect(readdirSync(join(root.directory, name, "tmp"))).toHaveLength(1);
		}
	});

	it("without room for one more directory is an error too", (context) => {
		const disk = smallDisk(context, "nr_inodes=20");
		const root = temporaryRoot(disk);
		expect(() => {
			for (;;) root.createWorker(0);
		}).toThrow(expect.objectContaining({ code: "CHANNEL" }));
	});
});

describe("T13 where there are no notifications", () => {
	it("a worker polls, and says so once", async (context) => {
		skipWithoutNamespaces(context);
		const channel = temporaryRoot().createWorker(0);
		channel.send(work(1), 1);
		const args = ["3"];
		const worker = start("reader", { channel, args, wrapper: NO_WATCHERS });
		await until(() => worker.lines()[0], 1);
		channel.send(pause(1), 2);
		channel.send(work(2), 3);
		expect(await worker.ended).toBe(0);
		expect(worker.lines()).toContainEqual({ count: 3, inOrder: true });
		expect(worker.stderr().match(/EMFILE/g)).toHaveLength(1);
		expect(worker.stderr()).toContain("each 150 ms");
	});

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

it.each([2, 10, 30])("two events %i ms apart are both seen", async (gapMs) => {
	const channel = temporaryRoot().createWorker(0);
	channel.send(work(1), 1);
	const worker = start("reader", { channel, args: ["3"] });
	await until(() => worker.lines()[0], 1);
	channel.send(pause(1), 2);
	await delay(gapMs);
	channel.send(work(2), 3);
	expect(await worker.ended).toBe(0);
	expect(worker.lines()).toContainEqual({ count: 3, inOrder: true });
});

it("replies are seen in channels that come and go while the agent watches", async () => {
	const { root, channel, replies } = await openAgent();
	const writer = new ReplyWriter(channel.directory);
	for (let round = 0; round < 5; round++) {
		const next = root.createWorker(round);
		new ReplyWriter(next.directory).write({ kind: "HELLO" }, round);
		await until(() => replies.length, 2 * round + 1);
		writer.write({ kind: "HELLO" }, round);
		await until(() => replies.length, 2 * round + 2);
		next.remove();
	}
});

async function openAgent(parent = tmpdir()) {
	const root = temporaryRoot(temporaryDirectory(parent));
	const channel = root.createWorker(0);
	const replies: ReceivedReply[] = [];
	let acknowledged = 0;
	const watch = await watchReplies(
		root,
		(_directory, reply) => {
			if (reply.kind === "ACK") acknowledged = reply.event;
			else replies.push(reply);
		},
		{
			clock: systemClock,
			warn: (warning) => {
				throw new Error(warning);
			},
		},
	);
	onTestFinished(() => watch.close());
	return { root, channel, replies, acknowledged: () => acknowledged };
}
