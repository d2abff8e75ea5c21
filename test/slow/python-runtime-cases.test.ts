// Both runtime libraries, against the same cases.
import {
	mkdirSync,
	readFileSync,
	renameSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, type TestContext } from "vitest";
import { KEPT_EVENTS, messageFileName } from "../../src/channel/layout.js";
import { LIBRARIES, type OpenLibrary } from "../fixtures/python/libraries.js";
import {
	pause,
	replaceLatest,
	temporaryRoot,
	work,
} from "../unit/channel/samples.js";

const EVENTS = readCases("event-cases");
const VARIABLES = readCases("variable-cases");
const TEXT = JSON.stringify(EVENTS.event);
const { version: _, ...EVENT } = EVENTS.event;

/** A text that is not the event's, or is the event's with a part of it replaced. */
const REFUSED: readonly { text: string; problem: string }[] = [
	...EVENTS.texts,
	...EVENTS.refused.map(
		(one: { part: string; by: string; problem: string }) => ({
			text: replaceIn(TEXT, one.part, one.by),
			problem: one.problem,
		}),
	),
];

describe.each(LIBRARIES)("the library for %s", (_name, open) => {
	it("reads events that say more than it knows", async (context) => {
		const library = open(context);
		for (const { part, by, change } of EVENTS.accepted) {
			const text = replaceIn(TEXT, part, by);
			expect(await library.decode(text)).toEqual({ ...EVENT, ...change });
		}
	});

	it("refuses what is no event, naming the field", async (context) => {
		const library = open(context);
		for (const { text, problem } of REFUSED) {
			await expect(library.decode(text), text).rejects.toThrow(
				new RegExp(problem),
			);
		}
	});

	it("T13 refuses an event of which a part is missing", async (context) => {
		const library = open(context);
		for (let length = 0; length < TEXT.length; length += 7) {
			await expect(library.decode(TEXT.slice(0, length))).rejects.toThrow();
		}
	});

	it("takes a worker's place from torchrun's variables", async (context) => {
		const library = open(context);
		for (const { variables, info } of VARIABLES.accepted) {
			expect(await library.fromVariables(variables, 77)).toEqual({
				sequence: 1,
				timestamp: 77,
				kind: "WORK",
				worker_state: "HEALTHY",
				change_event: null,
				instance: 0,
				round: info.round,
				reason: "started by another launcher",
				worker_info: info,
			});
		}
	});

	it("says how to launch where there is no place", async (context) => {
		const library = open(context);
		for (const { variables, problem } of VARIABLES.refused) {
			const attempt = library.fromVariables(variables, 0);
			await expect(attempt).rejects.toMatchObject({
				code: "NOT_LAUNCHED",
				message: expect.stringMatching(
					new RegExp(`${problem}.*elastic-run --nproc-per-node 2 `),
				),
			});
		}
	});
});

describe.each(LIBRARIES)("the newest event, in %s", (_name, open) => {
	it("is right after two files of the same size and time", async (context) => {
		const { channel, reader } = await openReader(open, context);
		for (let round = 1; round <= 200; round++) {
			channel.send(work(1 + (round % 9)), 5);
			if (round % 3 === 0) expect(await reader.newest()).toBe(round);
		}
	});

	it("T13 is found where the agent died before it replaced latest.json", async (context) => {
		const { channel, directory, reader } = await openReader(open, context);
		channel.send(work(1), 1);
		await reader.newest();
		const latest = join(directory, "latest.json");
		renameSync(latest, join(directory, "kept.json"));
		channel.send(pause(1), 2);
		renameSync(join(directory, "kept.json"), latest);
		utimesSync(latest, 1, 1);
		expect(await reader.newest()).toBe(2);
		const late = await open(context).openReader(directory);
		expect(await late.newest()).toBe(2);
	});

	it.for([
		["nothing", ""],
		["a part", "{"],
		["no event", '{"version":1}'],
		["what is no text", "\0"],
		["what is nested deeply", "[".repeat(20_000)],
	] as const)("T13 is found where latest.json holds %s", async ([
		,
		text,
	], context) => {
		const { channel, directory, reader } = await openReader(open, context);
		channel.send(work(1), 1);
		channel.send(work(2), 2);
		replaceLatest(directory, text);
		expect(await reader.newest()).toBe(2);
		await reader.newest();
		expect(await reader.warnings()).toEqual([
			expect.stringContaining("latest.json cannot be read as an event"),
		]);
		channel.send(work(3), 3);
		expect(await reader.newest()).toBe(3);
	});

	it("is an error that names the directory where there is none", async (context) => {
		const { channel, directory, reader } = await openReader(open, context);
		const error = (problem: string) => ({
			code: "CHANNEL",
			message: expect.stringMatching(
				new RegExp(`${directory}.*${problem}.*Set ELASTIC_RUN_DIR`),
			),
		});
		await expect(reader.newest()).rejects.toMatchObject(error("no event"));
		channel.remove();
		await expect(reader.newest()).rejects.toMatchObject(error("it is gone"));
	});
});

describe.each(LIBRARIES)("reading in order, in %s", (_name, open) => {
	it("takes each event once, from any position", async (context) => {
		const { channel, read, reader } = await openReader(open, context);
		for (let round = 1; round <= 5; round++) channel.send(work(round), round);
		expect(await read(0)).toEqual([1, 2, 3, 4, 5]);
		expect(await read(3)).toEqual([4, 5]);
		expect(await reader.next(5)).toBeNull();
		channel.send(pause(5), 6);
		expect(await read(5)).toEqual([6]);
	});

	it("T13 skips what is no event, and says so", async (context) => {
		const { channel, directory, read, reader } = await openReader(
			open,
			context,
		);
		const pathOf = (sequence: number) =>
			join(directory, "events", messageFileName(sequence));
		for (let round = 1; round <= 6; round++) channel.send(work(round), round);
		const large = "x".repeat(1024 * 1024 + 1);
		for (const [index, make] of [
			(path: string) => writeFileSync(path, '{"version":1,"sequ'),
			(path: string) => symlinkSync(join(directory, "latest.json"), path),
			(path: string) => mkdirSync(path),
			(path: string) => writeFileSync(path, large),
			(path: string) => renameSync(pathOf(6), path),
		].entries()) {
			rmSync(pathOf(index + 1));
			make(pathOf(index + 1));
		}
		writeFileSync(join(directory, "events", "notes.txt"), "not ours");
		channel.send(work(7), 7);
		writeFileSync(pathOf(6), "");
		expect(await read(0)).toEqual([7]);
		expect(await reader.warnings()).toHaveLength(6);
	});

	it("T13 goes on with the oldest that is kept where it fell behind, and says so", async (context) => {
		const { channel, read, reader } = await openReader(open, context);
		for (let round = 1; round <= 70; round++) channel.send(work(round), round);
		const kept = Array.from({ length: KEPT_EVENTS }, (_, index) => index + 7);
		expect(await read(2)).toEqual(kept);
		expect(await reader.warnings()).toEqual([
			expect.stringMatching(/^Events 3 to 6 of .* were removed/),
		]);
	});
});

async function openReader(open: OpenLibrary, context: TestContext) {
	const channel = temporaryRoot().createWorker(0);
	const { directory } = channel;
	const reader = await open(context).openReader(directory);
	const read = async (after: number) => {
		const sequences: unknown[] = [];
		for (let last: unknown = after; typeof last === "number"; ) {
			last = await reader.next(last);
			if (last !== null) sequences.push(last);
		}
		return sequences;
	};
	return { channel, directory, reader, read };
}

function readCases(name: string) {
	const path = new URL(`../fixtures/channel/${name}.json`, import.meta.url);
	return JSON.parse(readFileSync(path, "utf8"));
}

/** A case whose part is not there would show nothing. */
function replaceIn(text: string, part: string, by: string): string {
	if (!text.includes(part)) throw new Error(`the event has no ${part}`);
	return text.replace(part, by);
}
