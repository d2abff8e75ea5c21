import {
	existsSync,
	lstatSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	renameSync,
	symlinkSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { decodeEvent } from "../../../src/channel/codec.js";
import { pause, temporaryDirectory, temporaryRoot, work } from "./samples.js";

const filesIn = (directory: string, folder: string) =>
	readdirSync(join(directory, folder)).sort();

it("writes each event and the newest one, for this user alone", () => {
	const { directory, ...channel } = open();
	const first = channel.send(work(1), 100);
	const second = channel.send(pause(1), 200);

	expect([first.sequence, second.sequence]).toEqual([1, 2]);
	expect(second.timestamp).toBe(200);
	expect(filesIn(directory, "events")).toEqual([
		"0000000001.json",
		"0000000002.json",
	]);
	const read = (path: string) =>
		decodeEvent(readFileSync(join(directory, path), "utf8")).event;
	expect(read("events/0000000001.json")).toEqual(first);
	expect(read("latest.json")).toEqual(second);
	expect(filesIn(directory, "tmp")).toEqual([]);
	for (const path of [".", "events", "replies", "tmp"]) {
		expect(lstatSync(join(directory, path)).mode & 0o777).toBe(0o700);
	}
	for (const path of ["latest.json", "events/0000000001.json"]) {
		expect(lstatSync(join(directory, path)).mode & 0o777).toBe(0o600);
	}
});

it("keeps the newest 64", () => {
	const { directory, send } = open();
	for (let round = 1; round <= 70; round++) send(work(round), round);
	const files = filesIn(directory, "events");
	expect(files).toHaveLength(64);
	expect(files[0]).toBe("0000000007.json");
	expect(files.at(-1)).toBe("0000000070.json");
});

it("refuses what is larger than 1 MiB, and writes nothing", () => {
	const { directory, send } = open();
	send(work(1), 1);
	const large = work(2, "ä".repeat(600_000));
	expect(() => send(large, 2)).toThrow(
		expect.objectContaining({
			code: "CHANNEL",
			message: expect.stringMatching(/event 2 .* has 12\d{5} bytes.*1048576/),
		}),
	);
	expect(filesIn(directory, "events")).toEqual(["0000000001.json"]);
	expect(filesIn(directory, "tmp")).toEqual([]);
	expect(send(work(2), 3).sequence).toBe(2);
});

it("gives each process a directory of its own", () => {
	const root = temporaryRoot();
	const first = root.createWorker(3);
	const second = root.createWorker(3);
	expect(first.directory).toBe(join(root.directory, "w3.1"));
	expect(second.directory).toBe(join(root.directory, "w3.2"));
	expect(root.channels()).toEqual([first, second]);

	first.remove();
	first.remove();
	expect(existsSync(first.directory)).toBe(false);
	expect(root.channels()).toEqual([second]);

	root.remove();
	expect(existsSync(root.directory)).toBe(false);
	expect(() => root.createWorker(0)).toThrow(
		expect.objectContaining({ code: "CHANNEL" }),
	);
});

it("is there ahead of its worker, where there was time for it", () => {
	const root = temporaryRoot();
	root.createAhead(3, true);
	root.createAhead(3, true);
	expect(root.channels()).toEqual([]);
	const directory = join(root.directory, "w3.1");
	expect(filesIn(directory, "tmp")).toHaveLength(1);
	expect(lstatSync(join(directory, "hook")).mode & 0o777).toBe(0o700);

	const channel = root.createWorker(3);
	expect(channel.makeHook()).toBe(join(directory, "hook"));
	expect(channel.directory).toBe(directory);
	expect(root.channels()).toEqual([channel]);
	const first = channel.send(work(1), 100);
	expect(filesIn(directory, "tmp")).toEqual([]);
	expect(filesIn(directory, "events")).toEqual(["0000000001.json"]);
	for (const path of ["latest.json", "events/0000000001.json"]) {
		const text = readFileSync(join(directory, path), "utf8");
		expect(decodeEvent(text).event).toEqual(first);
		expect(lstatSync(join(directory, path)).mode & 0o777).toBe(0o600);
	}
	const [latest, numbered] = ["latest.json", "events/0000000001.json"].map(
		(path) => lstatSync(join(directory, path)).ino,
	);
	expect(latest).toBe(numbered);
	expect(root.createWorker(3).directory).toBe(join(root.directory, "w3.2"));
});

it("removes no files that a worker has linked to", () => {
	const root = temporaryRoot();
	const elsewhere = temporaryDirectory();
	writeFileSync(join(elsewhere, "kept"), "");
	const [linked, whole] = [root.createWorker(0), root.createWorker(1)];
	renameSync(linked.directory, `${linked.directory}.old`);
	symlinkSync(elsewhere, linked.directory);
	symlinkSync(elsewhere, join(whole.directory, "link"));
	mkdirSync(join(whole.directory, "own", "deeper"), { recursive: true });

	linked.remove();
	whole.remove();
	root.remove();

	expect(existsSync(root.directory)).toBe(false);
	expect(readdirSync(elsewhere)).toEqual(["kept"]);
});

function open() {
	const channel = temporaryRoot().createWorker(0);
	return {
		directory: channel.directory,
		send: channel.send.bind(channel),
	};
}
