import {
	appendFileSync,
	closeSync,
	openSync,
	rmSync,
	symlinkSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterAll, expect, test } from "vitest";
import { WorkerLines } from "../../../src/http/worker-lines.js";
import { HeldFile } from "../../../src/logs/held-file.js";
import type {
	LogDirectory,
	LogStream,
} from "../../../src/logs/log-directory.js";
import { temporaryFolder } from "../../helpers/processes.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());
let files = 0;

/** A file of a worker with this in it. */
function file(content: string, startBytes = 0): LogStream {
	files += 1;
	const path = join(folder.path, `${files}.log`);
	writeFileSync(path, content);
	return { path, startBytes, fd: -1, file: new HeldFile(path) };
}

/** The lines of one worker whose streams go to these. */
function linesOf(
	stdout: LogStream | undefined,
	stderr?: LogStream,
	lines = new WorkerLines(),
	round = 1,
) {
	const logs: LogDirectory = {
		...{ directory: "", agentLog: "", kept: null },
		...{ createAhead: () => {}, discardUnused: () => {}, makeAgain: () => {} },
		openAhead: () => undefined,
		openWorker: () => ({
			...{ directory: "", errorFile: "", stdout, stderr },
			closeDescriptors: () => {},
			letGo: () => {},
		}),
	};
	lines.noting(logs).openWorker(round, 0, { stdout: true, stderr: true });
	return lines;
}

const numbered = (count: number, word = "line") =>
	Array.from({ length: count }, (_, index) => `${word} ${index + 1}`);
const text = (lines: readonly string[]) =>
	lines.map((line) => `${line}\n`).join("");

test("the last 20 lines are told, and what comes after", async () => {
	const stdout = file(text(numbered(30)));
	const lines = linesOf(stdout);
	expect(await lines.of(0)).toEqual(numbered(30).slice(-20));
	appendFileSync(stdout.path, "more\nunfinished");
	expect((await lines.of(0)).slice(-3)).toEqual([
		"line 30",
		"more",
		"unfinished",
	]);
});

test("nothing of an earlier process in the same file, and nothing of an unknown worker", async () => {
	const lines = linesOf(file("old\nnew\n", 4));
	expect(await lines.of(0)).toEqual(["new"]);
	expect(await lines.of(1)).toEqual([]);
});

test("of two files the one that was written last stands last, and leaves the other one half", async () => {
	const stdout = file(text(numbered(30, "out")));
	const stderr = file(text(numbered(30, "err")));
	utimesSync(stdout.path, 100, 100);
	utimesSync(stderr.path, 200, 200);
	const both = await linesOf(stdout, stderr).of(0);
	expect(both).toEqual([
		...numbered(30, "out").slice(-10),
		...numbered(30, "err").slice(-10),
	]);
	const short = file("aside\n");
	utimesSync(short.path, 50, 50);
	expect(await linesOf(stdout, short).of(0)).toEqual([
		"aside",
		...numbered(30, "out").slice(-19),
	]);
});

test("control sequences are taken out, markup is text, long lines are cut between characters", async () => {
	const markup = "<img src=x onerror=alert(1)>";
	const long = `${"x".repeat(498)}😀😀`;
	const stdout = file(
		`\u001b[31mred\u001b[0m \u001b]0;title\u0007\n${markup}\n${long}\n`,
	);
	const [red, shown, cut = ""] = await linesOf(stdout).of(0);
	expect(red).toBe("red ");
	expect(shown).toBe(markup);
	expect(cut).toBe(`${"x".repeat(498)}…`);
});

test("a worker that prints without end and without lines is cut too", async () => {
	const stdout = file("y".repeat(1_000_000));
	const [line = "", ...others] = await linesOf(stdout).of(0);
	expect(others).toEqual([]);
	expect(line).toHaveLength(500);
});

test("a file that is gone or is a link elsewhere does no harm", async () => {
	const stdout = file("seen\n");
	const lines = linesOf(stdout);
	expect(await lines.of(0)).toEqual(["seen"]);
	rmSync(stdout.path);
	expect(await lines.of(0)).toEqual(["seen"]);
	const secret = file("a secret that is longer\n");
	symlinkSync(secret.path, stdout.path);
	expect(await lines.of(0)).toEqual(["seen"]);
	expect(await linesOf(undefined).of(0)).toEqual([]);
});

test("a file that was removed or renamed while it is held open is read on", async () => {
	const stdout = file("seen\n");
	const fd = openSync(stdout.path, "a");
	const held = HeldFile.of(stdout.path, fd);
	held.hold(() => {});
	const lines = linesOf({ ...stdout, file: held });
	rmSync(stdout.path);
	appendFileSync(fd, "written later\n");
	expect(await lines.of(0)).toEqual(["seen", "written later"]);
	held.close();
	closeSync(fd);
});

test("C4 those of the worker before stay readable, by its round", async () => {
	const lines = linesOf(file("first\n"));
	linesOf(file("second\n"), undefined, lines, 2);
	linesOf(file("fourth\n"), undefined, lines, 4);
	const inRounds = [1, 2, 3, 4, 5].map((round) => lines.inRound(0, round));
	expect(inRounds).toEqual([
		[],
		...[["second"], ["second"], ["fourth"], ["fourth"]],
	]);
	expect(lines.inRound(7, 1)).toEqual([]);
});
