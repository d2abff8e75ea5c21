import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
	ExitFileSpawner,
	exitCodeIn,
} from "../../../src/processes/exit-file-spawner.js";
import type { WorkerExit } from "../../../src/processes/worker.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

function standIn() {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	const file = join(path, "exit");
	writeFileSync(file, "9\n");
	const clock = new VirtualClock();
	const warn = (words: string) => expect.unreachable(words);
	const spawner = new ExitFileSpawner({ clock, file, warn });
	const heard: (WorkerExit | "gone")[] = [];
	const handle = spawner.spawn(undefined, {
		spawnFailed: () => expect.unreachable(),
		exited: (exit) => heard.push(exit),
		gone: () => heard.push("gone"),
	});
	return { clock, file, spawner, heard, handle };
}

describe("a worker without a process", () => {
	it("forgets what a former round left, and ends with the code that it is told", async () => {
		const { clock, file, heard } = standIn();
		expect(existsSync(file)).toBe(false);
		await clock.advance(1_000);
		expect(heard).toEqual([]);
		writeFileSync(file, "3\n");
		await clock.advance(1_000);
		expect(heard).toMatchObject([
			{ code: 3, signal: null, signalledByAgent: false },
			"gone",
		]);
	});

	it("is told at once where a look must not wait", () => {
		const { file, spawner, heard, handle } = standIn();
		writeFileSync(file, "0\n");
		spawner.look();
		handle.signal("SIGTERM");
		expect(heard).toMatchObject([{ code: 0 }, "gone"]);
	});

	it("ends when it is told to, once", () => {
		const { heard, handle } = standIn();
		handle.signal("SIGTERM");
		handle.signal("SIGKILL");
		expect(heard).toMatchObject([
			{ code: null, signal: "SIGTERM", signalledByAgent: true },
			"gone",
		]);
	});
});

it.each([
	["0\n", 0],
	[" 137\n", 137],
	["", undefined],
	["1", undefined],
	["256\n", undefined],
	["killed\n", undefined],
])("a file with %j says exit code %s", (text, code) => {
	expect(exitCodeIn(text)).toBe(code);
});
