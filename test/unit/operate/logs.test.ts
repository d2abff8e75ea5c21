import {
	appendFileSync,
	mkdirSync,
	rmSync,
	statSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemHost } from "../../../src/config/host.js";
import { findLogs, LogFolder } from "../../../src/operate/find-logs.js";
import {
	type LogLine,
	LogSource,
	lineTime,
} from "../../../src/operate/log-source.js";
import {
	type LineSource,
	mergeLines,
	parseRanks,
} from "../../../src/operate/show-logs.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";

const T = Date.UTC(2026, 10, 21, 22, 30, 7, 123);
const LOCAL = new Date(2026, 10, 21, 22, 30, 7, 123).getTime();

it.each([
	["2026-11-21T22:30:07.123Z step 1", T],
	["2026-11-21T23:30:07.123456+01:00 step", T],
	["[rank0] INFO 2026-11-21 22:30:07,123 - step", LOCAL],
	[`{"level":"info","time":${T},"msg":"x"}`, T],
	[`{"ts":${T / 1_000},"msg":"x"}`, T],
	['{"timestamp":"2026-11-21T22:30:07.123Z"}', T],
	['{"time":true}', undefined],
	["{not json", undefined],
	["2026-13-41 99:30:07 no such day", undefined],
	["loss 0.1 at 22:30:07", undefined],
	[`${"x".repeat(100)} 2026-11-21T22:30:07Z`, undefined],
	["", undefined],
])("the line %j was written at %s", (line, time) => {
	expect(lineTime(line)).toBe(time);
});

it.each([
	["0,3-5", [0, 3, 4, 5]],
	[" 2 , 2-2", [2]],
	["7", []],
])("--rank %s names %j of the first six", (text, expected) => {
	const parsed = parseRanks(text);
	if ("problems" in parsed) throw new Error("refused");
	expect([0, 1, 2, 3, 4, 5].filter(parsed.value)).toEqual(expected);
});

it.each([
	"",
	"a",
	"5-3",
	"1-2-3",
	"-1",
	"1,",
])("--rank %j is refused", (text) => {
	expect(parseRanks(text)).toMatchObject({
		problems: [expect.stringContaining("for example 0,3-5")],
	});
});

/** A source of lines "name@time". */
function source(path: string, bornAt: number, times: number[]): LineSource {
	const left = [...times];
	return {
		...{ path, bornAt },
		peek: () => {
			const time = left[0];
			if (time === undefined) return undefined;
			return { time, text: `${path}@${time}` } as LogLine;
		},
		advance: () => void left.shift(),
	};
}

it.each<[string, LineSource[], string]>([
	["one file", [source("a", 0, [1, 2])], "a@1 a@2"],
	[
		"by time, whatever the order of the files",
		[source("b", 0, [2, 4]), source("a", 1, [1, 3, 5])],
		"a@1 b@2 a@3 b@4 a@5",
	],
	[
		"of the same time in the order in which their files were made, none torn apart",
		[source("b", 0, [1, 1, 2]), source("a", 0, [1, 1])],
		"a@1 a@1 b@1 b@1 b@2",
	],
	[
		"one that begins when the other is over",
		[source("a", 0, [1]), source("b", 9, [9])],
		"a@1 b@9",
	],
	["files without lines", [source("a", 0, []), source("b", 5, [])], ""],
])("lines are merged: %s", (_, sources, expected) => {
	const lines = [...mergeLines(sources, true)].map(({ text }) => text);
	expect(lines.join(" ")).toBe(expected);
});

describe("files", () => {
	let folder: ReturnType<typeof temporaryFolder>;
	beforeEach(() => {
		folder = temporaryFolder();
	});
	afterEach(() => folder.remove());

	const ORIGIN = {
		...{ nodeId: "a", rank: 0, localRank: 0, round: 1 },
		stream: "stdout",
	} as const;
	const take = (from: LogSource, isLast = false) => {
		const lines: LogLine[] = [];
		for (let line = from.peek(isLast); line; line = from.peek(isLast)) {
			lines.push(line);
			from.advance();
		}
		return lines.map(({ text, time, timeFrom }) => [text, time, timeFrom]);
	};

	it("lines without a time have that of the line before, the first ones that of the file; times never go back", () => {
		const path = join(folder.path, "stdout.log");
		const at = "2030-01-01T00:00:0";
		writeFileSync(
			path,
			`first\n${at}2Z two\n  more\r\n${at}1Z late\n\u001b[31mred\u001b[0m\nunfin`,
		);
		const from = new LogSource(path, ORIGIN);
		const two = Date.UTC(2030, 0, 1, 0, 0, 2);
		expect(take(from)).toEqual([
			["first", from.bornAt, "file"],
			[`${at}2Z two`, two, "line"],
			["  more", two, "line before"],
			[`${at}1Z late`, two, "line"],
			["red", two, "line before"],
		]);
		appendFileSync(path, "ished\nlast");
		expect(take(from).map(([text]) => text)).toEqual(["unfinished"]);
		expect(take(from, true).map(([text]) => text)).toEqual(["last"]);
		expect(take(from, true)).toEqual([]);
	});

	it("lines without a time have that at which the launcher saw them come, until a line says one", () => {
		const path = join(folder.path, "stdout.log");
		const said = "2040-01-01T00:00:00Z said";
		writeFileSync(path, `one\ntwo\nthree\n${said}\nfive\n`);
		const [early, late] = [Date.UTC(2035, 1), Date.UTC(2036, 1)];
		writeFileSync(
			join(folder.path, "stdout.times"),
			`0 ${early}\nno entry\n6 ${late}\n`,
		);
		expect(take(new LogSource(path, ORIGIN))).toEqual([
			["one", early, "arrival"],
			["two", early, "arrival"],
			["three", late, "arrival"],
			[said, Date.UTC(2040, 0), "line"],
			["five", Date.UTC(2040, 0), "line before"],
		]);
	});

	it("a line that comes while they are read has the time of its writing", () => {
		const path = join(folder.path, "stdout.log");
		writeFileSync(path, "one\n");
		const from = new LogSource(path, ORIGIN);
		take(from);
		appendFileSync(path, "two\n");
		const { mtimeMs } = statSync(path);
		expect(take(from)).toEqual([["two", mtimeMs, "arrival"]]);
	});

	it("a file that is removed while it is read has no more lines", () => {
		const path = join(folder.path, "stdout.log");
		writeFileSync(path, "one\n");
		const from = new LogSource(path, ORIGIN);
		expect(take(from)).toHaveLength(1);
		rmSync(path);
		expect(take(from, true)).toEqual([]);
	});

	it("a line that is longer than can be held comes in pieces", () => {
		const path = join(folder.path, "stdout.log");
		writeFileSync(path, `${"x".repeat(2_500_000)}\nend\n`);
		const texts = take(new LogSource(path, ORIGIN)).map(([text]) =>
			String(text),
		);
		expect(texts.length).toBeGreaterThan(2);
		expect(texts.slice(0, -1).join("")).toHaveLength(2_500_000);
		expect(texts.at(-1)).toBe("end");
	});

	function log(path: string, text: string): void {
		mkdirSync(join(folder.path, path, ".."), { recursive: true });
		writeFileSync(join(folder.path, path), text);
	}

	it("are taken in once the ranks of their workers are known, or will not be any more", () => {
		log("a/round-2/0/stdout.log", "");
		log("a/round-2/1/stderr.log", "");
		log("a/round-2/1/error.json", "");
		log("a/other/0/stdout.log", "");
		const logs = new LogFolder([join(folder.path, "a")]);
		const seen = () =>
			logs.sources.map(
				({ origin: { rank, localRank, round, stream } }) =>
					`${stream} ${round} ${localRank} ${rank}`,
			);
		expect(logs.hasRound).toBe(false);
		logs.refresh(false);
		expect(seen()).toEqual([]);
		log("a/agent.log", '{"msg":"to\n{"round":2,"firstRank":4,"msg":"x"}\n');
		logs.refresh(false);
		expect(seen().sort()).toEqual([
			"launcher null null null",
			"stderr 2 1 5",
			"stdout 2 0 4",
		]);
		log("a/round-3/0/stdout.log", "");
		logs.refresh(true);
		expect(seen()).toContain("stdout 3 0 null");
		expect(logs.hasRound).toBe(true);
	});

	it("are those of the run's newest start, in the directory that is named or in temporary ones", () => {
		const host = {
			...systemHost({ ELASTIC_RUN_DIR: folder.path }),
			...{ temporaryDirectory: folder.path, cwd: folder.path },
		};
		const uid = process.getuid?.() ?? 0;
		const searcher = { host, uid, clock: new VirtualClock() };
		const find = (runId?: string, logDir?: string) => {
			const found = findLogs(runId, { logDir }, searcher);
			return found && [found.runId, found.instance, found.nodes.length];
		};
		expect(find("r")).toBeUndefined();
		for (const path of ["logs/r/9/a/x", "logs/r/11/a/x", "logs/r/11/b/x"]) {
			log(path, "");
		}
		log("elastic-run-logs-abc/r/10/a/x", "");
		log("elastic-run-logs-abc/s/12/a/x", "");
		log("elastic-run-logs-abc/r/latest/a/x", "");
		utimesSync(folder.path, 1, 1);
		expect(find("r", "logs")).toEqual(["r", 11, 2]);
		expect(find("r")).toEqual(["r", 10, 1]);
		expect(find()).toEqual(["s", 12, 1]);
		expect(find("t", "logs")).toBeUndefined();
	});
});
