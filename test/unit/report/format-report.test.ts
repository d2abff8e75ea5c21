import { describe, expect, it } from "vitest";
import { formatDuration, formatRanks } from "../../../src/base/units.js";
import { formatReport } from "../../../src/report/format-report.js";
import type { RunReport } from "../../../src/report/run-report.js";

const failed: RunReport = {
	outcome: "failed",
	exitCode: 1,
	runId: "train-1f3a",
	nodeId: "node-a",
	instance: 1_795_163_940_000,
	reason: "the budget of 1 restart is spent",
	rootCause: {
		failure: {
			id: "node-a/1/2",
			nodeId: "node-a",
			round: 2,
			rank: 2,
			localRank: 2,
			role: "default",
			pid: 4711,
			exitCode: 1,
			signal: null,
			uptimeMs: 41_234,
			timestamp: 0,
			description: "exit code 1",
		},
		error: {
			message: "RuntimeError: shape mismatch",
			stack: 'Traceback:\n  File "train.py", line 7\n',
		},
		lastLines: ["step 41", "\x1b[31mRuntimeError\x1b[0m: shape mismatch"],
		logFile: "/logs/train-1f3a/1/node-a/round-2/2/stderr.log",
	},
	rounds: [
		{
			round: 1,
			startedAt: 0,
			worldSize: 4,
			recoveryMs: null,
			ranMs: 12_000,
			ending: "rank 0 on node-a: killed by SIGKILL",
		},
		{
			round: 2,
			startedAt: 12_340,
			worldSize: 4,
			recoveryMs: 340,
			ranMs: 41_234,
			ending: "rank 2 on node-a: exit code 1",
		},
	],
	restarts: { used: 1, allowed: 1 },
	workers: [
		{
			rank: 0,
			localRank: 0,
			pid: 4709,
			exitCode: 143,
			signal: "SIGTERM",
			collateral: true,
		},
		{
			rank: 1,
			localRank: 1,
			pid: 4710,
			exitCode: 143,
			signal: "SIGTERM",
			collateral: true,
		},
		{
			rank: 2,
			localRank: 2,
			pid: 4711,
			exitCode: 1,
			signal: null,
			collateral: false,
		},
		{
			rank: 3,
			localRank: 3,
			pid: 4712,
			exitCode: 134,
			signal: "SIGABRT",
			collateral: false,
		},
	],
	stuck: [],
	logDir: "/logs/train-1f3a/1/node-a",
};

describe("formatReport", () => {
	it("tells a failed run from its root cause on", () => {
		expect(formatReport(failed, false)).toBe(
			`root cause: rank 2 on node-a (pid 4711), round 2: exit code 1
  up 41.2 s, local rank 2, role default
  error: RuntimeError: shape mismatch
    Traceback:
      File "train.py", line 7
  last lines of its stderr:
  | step 41
  | RuntimeError: shape mismatch
  log: /logs/train-1f3a/1/node-a/round-2/2/stderr.log
stopped because of it: ranks 0-1
also failed: rank 3 (SIGABRT)
  round  workers  recovery     ran  ended by
      1        4         -  12.0 s  rank 0 on node-a: killed by SIGKILL
      2        4    340 ms  41.2 s  rank 2 on node-a: exit code 1
restarts: 1 of 1 used
ended: the budget of 1 restart is spent
logs: /logs/train-1f3a/1/node-a
`,
		);
	});

	it("tells what peers did that did not end, beside who was stopped", () => {
		const stuck = ["1 peer was stuck: rank 1 at train.py:41 in all_reduce"];
		expect(formatReport({ ...failed, stuck }, false)).toContain(
			`also failed: rank 3 (SIGABRT)\n${stuck[0]}\n`,
		);
	});

	it("tells no exit code of a worker that was given up", () => {
		const cause = failed.rootCause;
		const failure = cause && {
			...{ ...cause.failure, isGivenUp: true, uptimeMs: 0 },
			description: "did not acknowledge PAUSE within 60 s",
		};
		const rootCause = failure && { failure, lastLines: [] };
		expect(formatReport({ ...failed, rootCause }, false)).toContain(
			`round 2: did not acknowledge PAUSE within 60 s
  local rank 2, role default
`,
		);
	});

	it("tells what it knows of a failure on another node", () => {
		const cause = failed.rootCause;
		const report = formatReport(
			{
				...failed,
				rootCause: cause && {
					failure: {
						...cause.failure,
						nodeId: "node-b",
						rank: 9,
						pid: 77,
						exitCode: 137,
						signal: "SIGKILL",
						description: "killed by SIGKILL",
						message: "out of\nmemory",
					},
					lastLines: [],
				},
				workers: [],
				rounds: [],
				logDir: null,
			},
			false,
		);
		expect(report).toBe(
			`root cause: rank 9 on node-b (pid 77), round 2: killed by SIGKILL
  up 41.2 s, signal SIGKILL, exit code 137, local rank 2, role default
  error: out of
    memory
  log: on node-b, if its streams were redirected
restarts: 1 of 1 used
ended: the budget of 1 restart is spent
`,
		);
	});

	it("says that there is no log of a failure on this node whose streams were not redirected", () => {
		const cause = failed.rootCause;
		const rootCause = cause && { ...cause, logFile: undefined };
		const report = formatReport({ ...failed, rootCause }, false);
		expect(report).toContain("\n  log: none: its stderr was not redirected\n");
	});

	it("begins with the run where no worker is the cause", () => {
		const report = { ...failed, rootCause: null, workers: [], rounds: [] };
		expect(formatReport(report, false)).toBe(
			`run train-1f3a failed: the budget of 1 restart is spent
restarts: 1 of 1 used
logs: /logs/train-1f3a/1/node-a
`,
		);
	});

	it("says so of one that had no place for this node", () => {
		expect(
			formatReport({ ...failed, outcome: "succeeded", rounds: [] }, false),
		).toBe("run train-1f3a succeeded without this node\n");
	});

	it("says how long it took where somebody has set the clock meanwhile", () => {
		const [first, second] = failed.rounds;
		if (first === undefined || second === undefined) {
			throw new Error("there were two rounds");
		}
		const rounds = [
			first,
			{ ...second, startedAt: second.startedAt - 3_600_000 },
		];
		expect(
			formatReport({ ...failed, outcome: "succeeded", rounds }, false),
		).toContain(", 53.6 s");
	});

	it("says one line of a run that succeeded", () => {
		expect(formatReport({ ...failed, outcome: "succeeded" }, false)).toBe(
			"run train-1f3a succeeded: 2 rounds, 1 restart, 53.6 s\n",
		);
	});

	it("colours the first line only, and only where asked", () => {
		const lines = formatReport(failed, true).split("\n");
		expect(lines[0]).toBe(
			"\x1b[1;31mroot cause: rank 2 on node-a (pid 4711), round 2: exit code 1\x1b[0m",
		);
		expect(lines.slice(1).join("")).not.toContain("\x1b");
	});

	it("lets no peer or worker write control sequences", () => {
		const evil = JSON.stringify(failed).replaceAll(
			"node-a",
			"\\u001b[2Jnode-a",
		);
		const report: RunReport = JSON.parse(evil);
		expect(formatReport(report, false)).not.toContain("\x1b");
	});

	it("stays readable after many rounds, long lines and deep stacks", () => {
		const cause = failed.rootCause;
		const round = failed.rounds[0];
		const report = formatReport(
			{
				...failed,
				rootCause: cause && {
					...cause,
					error: { message: "x", stack: "at y\n".repeat(500) },
					lastLines: ["z".repeat(5_000)],
				},
				rounds: round ? Array(200).fill(round) : [],
			},
			false,
		);
		expect(report).toContain("… 180 earlier rounds");
		expect(report).toContain("… 440 more lines");
		expect(report.split("\n").length).toBeLessThan(100);
		for (const line of report.split("\n")) {
			expect(line.length).toBeLessThan(1_010);
		}
	});
});

describe("units", () => {
	it.each([
		[0, "0 ms"],
		[999.4, "999 ms"],
		[41_234, "41.2 s"],
		[100_000, "1 min 40 s"],
		[3_599_000, "59 min 59 s"],
		[12_000_000, "3 h 20 min"],
	])("%d ms is %s", (ms, text) => {
		expect(formatDuration(ms)).toBe(text);
	});

	it.each([
		[[], ""],
		[[3], "3"],
		[[7, 0, 2, 4, 3, 5], "0, 2-5, 7"],
	])("ranks %j are %s", (ranks, text) => {
		expect(formatRanks(ranks)).toBe(text);
	});
});

it("says of the failed worker that it was started warm, and how to do without", () => {
	const { rootCause } = failed;
	if (rootCause === null) throw new Error("no root cause");
	const words = "it was started warm; to start all workers in the usual way";
	const failure = { ...rootCause.failure, startedWarm: true };
	const warm = { ...failed, rootCause: { ...rootCause, failure } };
	expect(formatReport(warm, false)).toContain(`\n  ${words}: --warm off\n`);
	expect(formatReport(failed, false)).not.toContain("warm");
});
