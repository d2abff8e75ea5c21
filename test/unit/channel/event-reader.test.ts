import {
	mkdirSync,
	renameSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { EventReader } from "../../../src/channel/event-reader.js";
import { messageFileName } from "../../../src/channel/layout.js";
import { pause, replaceLatest, temporaryRoot, work } from "./samples.js";

describe("the newest event", () => {
	it("is there at once, and follows what is written", () => {
		const { channel, reader } = open();
		const first = channel.send(work(1), 1);
		expect(reader.newest()).toEqual(first);
		expect(reader.newest()).toBe(reader.newest());
		const second = channel.send(pause(1), 2);
		expect(reader.newest()).toEqual(second);
	});

	it("is found where the agent died before it replaced latest.json", () => {
		const { channel, reader, directory } = open();
		channel.send(work(1), 1);
		reader.newest();
		keepLatest(directory, () => channel.send(pause(1), 2));
		expect(reader.newest().sequence).toBe(2);
		expect(new EventReader(directory, () => {}).newest().sequence).toBe(2);
	});

	it.each([
		"",
		"{",
		'{"version":1}',
		"\0",
	])("is found where latest.json holds %j", (text) => {
		const { channel, reader, directory, warnings } = open();
		channel.send(work(1), 1);
		channel.send(work(2), 2);
		replaceLatest(directory, text);
		expect(reader.newest().sequence).toBe(2);
		reader.newest();
		expect(warnings).toHaveLength(1);
		expect(warnings[0]).toContain("latest.json cannot be read as an event");
		channel.send(work(3), 3);
		expect(reader.newest().sequence).toBe(3);
	});

	it("is found where latest.json is missing for a moment", () => {
		const { channel, reader, directory } = open();
		channel.send(work(1), 1);
		rmSync(join(directory, "latest.json"));
		expect(reader.newest().sequence).toBe(1);
		channel.send(work(2), 2);
		rmSync(join(directory, "latest.json"));
		expect(reader.newest().sequence).toBe(2);
	});

	it("stays what it was where the whole channel is gone", () => {
		const { channel, reader } = open();
		const event = channel.send(work(1), 1);
		reader.newest();
		channel.remove();
		expect(reader.newest()).toEqual(event);
	});

	it("is an error that names the directory where there is none", () => {
		const { channel, reader, directory } = open();
		const error = (message: RegExp) =>
			expect.objectContaining({
				code: "CHANNEL",
				message: expect.stringMatching(
					new RegExp(`${directory}.*${message.source}`),
				),
			});
		expect(() => reader.newest()).toThrow(error(/it holds no event/));
		channel.remove();
		expect(() => reader.newest()).toThrow(error(/it is gone/));
	});
});

describe("reading in order", () => {
	it("takes each event once, from any position", () => {
		const { channel, reader } = open();
		for (let round = 1; round <= 5; round++) channel.send(work(round), round);
		expect(read(reader, 0)).toEqual([1, 2, 3, 4, 5]);
		expect(read(reader, 3)).toEqual([4, 5]);
		expect(reader.next(5)).toBeUndefined();
		channel.send(pause(5), 6);
		expect(read(reader, 5)).toEqual([6]);
	});

	it("skips what is no event, and says so", () => {
		const { channel, reader, directory, warnings } = open();
		const events = join(directory, "events");
		for (let round = 1; round <= 6; round++) channel.send(work(round), round);
		const replace = (sequence: number, make: (path: string) => void) => {
			const path = join(events, messageFileName(sequence));
			rmSync(path);
			make(path);
		};
		replace(1, (path) => writeFileSync(path, '{"version":1,"sequ'));
		replace(2, (path) => symlinkSync(join(directory, "latest.json"), path));
		replace(3, (path) => mkdirSync(path));
		replace(4, (path) => writeFileSync(path, "x".repeat(1024 * 1024 + 1)));
		replace(5, (path) => renameSync(join(events, messageFileName(6)), path));
		writeFileSync(join(events, "notes.txt"), "not ours");
		channel.send(work(7), 7);
		writeFileSync(join(events, messageFileName(6)), "");
		expect(read(reader, 0)).toEqual([7]);
		expect(warnings).toHaveLength(6);
	});

	it("goes on with the oldest that is kept where it fell behind, and says so", () => {
		const { channel, reader, warnings } = open();
		for (let round = 1; round <= 70; round++) channel.send(work(round), round);
		expect(read(reader, 2)).toEqual(
			Array.from({ length: 64 }, (_, index) => index + 7),
		);
		expect(warnings).toEqual([
			expect.stringMatching(/^Events 3 to 6 of .* were removed/),
		]);
	});

	it("says where the channel is gone", () => {
		const { channel, reader } = open();
		channel.send(work(1), 1);
		channel.remove();
		expect(() => reader.next(1)).toThrow(
			expect.objectContaining({
				code: "CHANNEL",
				message: expect.stringContaining("its agent has ended"),
			}),
		);
	});
});

function open() {
	const channel = temporaryRoot().createWorker(0);
	const warnings: string[] = [];
	const reader = new EventReader(channel.directory, (warning) =>
		warnings.push(warning),
	);
	return { channel, directory: channel.directory, reader, warnings };
}

function read(reader: EventReader, after: number): number[] {
	const sequences: number[] = [];
	for (let event = reader.next(after); event !== undefined; ) {
		sequences.push(event.sequence);
		event = reader.next(event.sequence);
	}
	return sequences;
}

/** What an agent leaves that dies between its two renames. */
function keepLatest(directory: string, act: () => void): void {
	const [latest, kept] = [
		join(directory, "latest.json"),
		join(directory, "kept.json"),
	];
	renameSync(latest, kept);
	act();
	renameSync(kept, latest);
	utimesSync(latest, 1, 1);
}
