import {
	existsSync,
	mkdirSync,
	readdirSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { encodeReply } from "../../../src/channel/codec.js";
import type { ReceivedReply } from "../../../src/channel/events.js";
import { onceEach } from "../../../src/channel/problems.js";
import { ReplyReader } from "../../../src/channel/reply-reader.js";
import { ReplyWriter } from "../../../src/channel/reply-writer.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { temporaryRoot } from "./samples.js";

describe("writing", () => {
	it("reaches the agent though its numbers were used and read before", () => {
		const { directory, received, reader } = open();
		new ReplyWriter(directory).write({ kind: "HELLO" }, 1);
		readAll(reader);
		new ReplyWriter(directory).write({ kind: "ACK", event: 1 }, 1);
		readAll(reader);
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

describe("steps that come fast", () => {
	it("replace the newest one, once many have been written as replies", () => {
		const { directory, received, reader, files } = open();
		const writer = new ReplyWriter(directory);
		for (let step = 1; step <= 1_000; step++) {
			expect(writer.write({ kind: "PROGRESS", step }, step)).toBe(true);
		}
		expect(files().length).toBeLessThan(300);
		expect(readdirSync(join(directory, "tmp"))).toEqual([]);
		readAll(reader);
		readAll(reader);
		expect(files()).toEqual([]);
		expect(received.at(-1)).toMatchObject({ kind: "PROGRESS", step: 1_000 });
		expect(received.filter(isStep(1_000))).toHaveLength(1);
	});

	it("are written as replies again when time has passed", () => {
		const { directory, files } = open();
		const writer = new ReplyWriter(directory);
		for (let step = 1; step <= 300; step++) {
			writer.write({ kind: "PROGRESS", step }, 0);
		}
		const before = files().length;
		for (let second = 1; second <= 35; second++) {
			writer.write({ kind: "PROGRESS", step: 300 + second }, second * 1000);
		}
		expect(files()).toHaveLength(before + 3);
	});

	it("never go back, whichever way they arrive", () => {
		const { directory, received, reader, put } = open();
		const progress = join(directory, "progress.json");
		writeFileSync(progress, encodeReply({ kind: "PROGRESS", step: 9 }, 9, 900));
		readAll(reader);
		put(1, encodeReply({ kind: "PROGRESS", step: 8 }, 1, 800));
		put(2, encodeReply({ kind: "PROGRESS", step: 10 }, 2, 1_000));
		readAll(reader);
		writeFileSync(progress, encodeReply({ kind: "PROGRESS", step: 9 }, 9, 950));
		readAll(reader);
		expect(received.map((reply) => "step" in reply && reply.step)).toEqual([
			9, 10,
		]);
	});
});

describe("reading", () => {
	it("stops when its time is over, and goes on where it was", () => {
		const { received, reader, put, files } = open();
		for (let sequence = 1; sequence <= 6; sequence++) {
			put(sequence, encodeReply({ kind: "HELLO" }, sequence, 1));
		}
		const over = [false, true, false];
		const isOver = () => over.shift() ?? true;
		const counts: number[] = [];
		while (!reader.read(isOver)) {
			counts.push(received.length);
			over.push(false);
		}
		expect(Math.max(...counts)).toBeGreaterThan(2);
		expect(received.map(({ sequence }) => sequence)).toEqual([
			1, 2, 3, 4, 5, 6,
		]);
		expect(files()).toEqual([]);
	});

	it("finds the replies among many files of others", () => {
		const { directory, received, reader, put, files } = open();
		for (let count = 0; count < 300; count++) {
			writeFileSync(join(directory, "replies", `foreign-${count}`), "");
		}
		put(1, encodeReply({ kind: "HELLO" }, 1, 1));
		put(2, encodeReply({ kind: "ACK", event: 1 }, 2, 1));
		readAll(reader);
		expect(received.map(({ kind }) => kind)).toEqual(["HELLO", "ACK"]);
		expect(files()).toHaveLength(300);
		expect(reader.isCrowded).toBe(true);
	});

	it("of a flood drops the oldest steps and nothing else, and says so once", () => {
		const { received, reader, put, files, warnings } = open();
		for (let step = 1; step <= 1_200; step++) {
			put(step, encodeReply({ kind: "PROGRESS", step }, step, 1));
		}
		put(1, encodeReply({ kind: "HELLO" }, 1, 1));
		put(50, encodeReply({ kind: "ACK", event: 1 }, 50, 1));
		put(70, encodeReply({ kind: "ERROR", message: "no" }, 70, 1));
		put(1_201, encodeReply(waiting, 1_201, 1));
		readAll(reader);
		const others = received.filter(({ kind }) => kind !== "PROGRESS");
		expect(others.map(({ kind }) => kind)).toEqual([
			"HELLO",
			"ACK",
			"ERROR",
			"WAITING",
		]);
		expect(received).toHaveLength(4 + 1_023);
		expect(received.at(-2)).toMatchObject({ step: 1_200 });
		expect(files()).toEqual([]);
		expect(warnings).toEqual([
			expect.stringMatching(/the oldest steps are dropped.*less often/),
		]);
	});

	it("passes some errors on, and says once that it keeps the others back", () => {
		const { received, reader, put, warnings } = open();
		for (let count = 1; count <= 100; count++) {
			put(count, encodeReply({ kind: "ERROR", message: "no" }, count, 1));
		}
		put(101, encodeReply({ kind: "ACK", event: 1 }, 101, 1));
		readAll(reader);
		expect(received).toHaveLength(21);
		expect(received.at(-1)?.kind).toBe("ACK");
		expect(warnings).toEqual([expect.stringMatching(/1 error a second/)]);
	});

	it("deletes what is no reply, with a warning, and leaves foreign files", () => {
		const { directory, received, reader, put, files, warnings } = open();
		put(1, '{"version":1,');
		put(2, "x".repeat(1024 * 1024 + 1));
		put(3, '{"version":1,"sequence":3,"timestamp":1,"kind":"DANCE"}');
		symlinkSync("/etc/passwd", join(directory, "replies/0000000004.json"));
		put(5, encodeReply({ kind: "HELLO" }, 5, 1));
		writeFileSync(join(directory, "replies/notes"), "");
		readAll(reader);
		expect(received.map(({ sequence }) => sequence)).toEqual([5]);
		expect(warnings).toHaveLength(3);
		expect(files()).toEqual(["notes"]);
		expect(existsSync("/etc/passwd")).toBe(true);
	});

	it("does not deliver again what cannot be deleted, nor stumble over it", () => {
		const { directory, received, reader, put, warnings } = open();
		mkdirSync(join(directory, "replies/0000000001.json"));
		put(2, encodeReply({ kind: "HELLO" }, 2, 1));
		readAll(reader);
		readAll(reader);
		expect(received).toHaveLength(1);
		expect(warnings).toHaveLength(2);
	});

	it("at once delivers what lies there, or of a flood the newest", () => {
		const { received, reader, put } = open();
		for (let event = 1; event <= 1_100; event++) {
			put(event, encodeReply({ kind: "ACK", event }, event, 1));
		}
		reader.readNow();
		expect(received).toHaveLength(1_024);
		expect(received.at(-1)).toMatchObject({ event: 1_100 });
		reader.readNow();
		expect(received).toHaveLength(1_100);
	});
});

const waiting = { kind: "WAITING", round: 1, message: "waits" } as const;

function isStep(step: number) {
	return (reply: ReceivedReply) => "step" in reply && reply.step === step;
}

function readAll(reader: ReplyReader) {
	expect(reader.read(() => false)).toBe(true);
}

function open() {
	const { directory } = temporaryRoot().createWorker(0);
	const received: ReceivedReply[] = [];
	const warnings: string[] = [];
	const reader = new ReplyReader(
		directory,
		new VirtualClock(0),
		(reply) => received.push(reply),
		onceEach((warning) => warnings.push(warning)),
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
