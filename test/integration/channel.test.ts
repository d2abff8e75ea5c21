import { readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/base/clock.js";
import { EventReader } from "../../src/channel/event-reader.js";
import type { ReceivedReply } from "../../src/channel/events.js";
import { ReplyWatch } from "../../src/channel/reply-watch.js";
import { ReplyWriter } from "../../src/channel/reply-writer.js";
import { start, until } from "../fixtures/runtime-harness.js";
import {
	fill,
	NO_WATCHERS,
	skipWithoutNamespaces,
	smallDisk,
} from "../fixtures/scarcity.js";
import {
	temporaryDirectory,
	temporaryRoot,
	work,
} from "../unit/channel/samples.js";

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
	const watch = new ReplyWatch(
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
	await watch.open();
	return { root, channel, replies, acknowledged: () => acknowledged };
}
