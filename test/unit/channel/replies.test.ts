import {
	existsSync,
	mkdirSync,
	readdirSync,
	rmSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeReply } from "../../../src/channel/codec.js";
import type { ReceivedReply } from "../../../src/channel/events.js";
import { ReplyReader } from "../../../src/channel/reply-reader.js";
import { ReplyWriter } from "../../../src/channel/reply-writer.js";
import { temporaryRoot } from "./samples.js";

describe("writing", () => {
	it("numbers from 1 and leaves nothing in tmp", () => {
		const { directory, files } = open();
		const writer = new ReplyWriter(directory);
		writer.write({ kind: "HELLO" }, 1);
		writer.write({ kind: "ACK", event: 1 }, 2);
		expect(files()).toEqual(["0000000001.json", "0000000002.json"]);
		expect(readdirSync(join(directory, "tmp"))).toEqual([]);
	});

	it("never replaces what another process of the worker said", () => {
		const { directory, received, reader } = open();
		const writers = [1, 2, 3].map(() => new ReplyWriter(directory));
		for (let event = 1; event <= 20; event++) {
			for (const writer of writers) writer.write({ kind: "ACK", event }, 1);
		}
		reader.readSome(directory);
		expect(received).toHaveLength(60);
		expect(new Set(received.map(({ sequence }) => sequence)).size).toBe(60);
	});

	it("reaches the agent though its numbers were used and read before", () => {
		const { directory, received, reader } = open();
		new ReplyWriter(directory).write({ kind: "HELLO" }, 1);
		reader.readSome(directory);
		new ReplyWriter(directory).write({ kind: "ACK", event: 1 }, 1);
		reader.readSome(directory);
		expect(received.map(({ kind }) => kind)).toEqual(["HELLO", "ACK"]);
	});

	it("refuses more than 1 MiB", () => {
		const { directory, files } = open();
		const large = "x".repeat(1024 * 1024);
		expect(() =>
			new ReplyWriter(directory).write({ kind: "PROGRESS", step: 1, large }, 1),
		).toThrow(expect.objectContaining({ code: "CHANNEL" }));
		expect(files()).toEqual([]);
	});
});

describe("reading", () => {
	it("delivers in order and deletes", () => {
		const { directory, received, reader, files } = open();
		const writer = new ReplyWriter(directory);
		for (let event = 1; event <= 12; event++) {
			writer.write({ kind: "ACK", event }, event);
		}
		expect(reader.readSome(directory)).toBe(false);
		expect(received.map(({ sequence }) => sequence)).toEqual([
			1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12,
		]);
		expect(files()).toEqual([]);
	});

	it("takes a flood in turns", () => {
		const { directory, received, reader, put } = open();
		for (let sequence = 1; sequence <= 300; sequence++) {
			put(sequence, encodeReply({ kind: "HELLO" }, sequence, 1));
		}
		expect(reader.readSome(directory)).toBe(true);
		expect(received).toHaveLength(256);
		expect(reader.readSome(directory)).toBe(false);
		expect(received).toHaveLength(300);
	});

	it("deletes what is no reply, with a warning, and leaves foreign files", () => {
		const { directory, received, reader, put, files, warnings } = open();
		put(1, '{"version":1,');
		put(2, "x".repeat(1024 * 1024 + 1));
		put(3, '{"version":1,"sequence":3,"timestamp":1,"kind":"DANCE"}');
		symlinkSync("/etc/passwd", join(directory, "replies/0000000004.json"));
		put(5, encodeReply({ kind: "HELLO" }, 5, 1));
		writeFileSync(join(directory, "replies/notes"), "");
		reader.readSome(directory);
		expect(received.map(({ sequence }) => sequence)).toEqual([5]);
		expect(warnings).toHaveLength(3);
		expect(files()).toEqual(["notes"]);
		expect(existsSync("/etc/passwd")).toBe(true);
	});

	it("does not deliver again what cannot be deleted, nor stumble over it", () => {
		const { directory, received, reader, put, warnings } = open();
		mkdirSync(join(directory, "replies/0000000001.json"));
		put(2, encodeReply({ kind: "HELLO" }, 2, 1));
		reader.readSome(directory);
		reader.readSome(directory);
		expect(received).toHaveLength(1);
		expect(warnings).toHaveLength(2);
	});

	it("of a channel that was removed is empty", () => {
		const { directory, reader, warnings } = open();
		rmSync(directory, { recursive: true });
		expect(reader.readSome(directory)).toBe(false);
		expect(warnings).toEqual([]);
	});
});

function open() {
	const { directory } = temporaryRoot().createWorker(0);
	const received: ReceivedReply[] = [];
	const warnings: string[] = [];
	const reader = new ReplyReader(
		(_, reply) => received.push(reply),
		(warning) => warnings.push(warning),
	);
	const replies = join(directory, "replies");
	return {
		directory,
		received,
		warnings,
		reader,
		files: () => readdirSync(replies).sort(),
		put: (sequence: number, text: string) =>
			writeFileSync(
				join(replies, `${String(sequence).padStart(10, "0")}.json`),
				text,
			),
	};
}
