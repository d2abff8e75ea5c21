import { describe, expect, it } from "vitest";
import { formatDuration, formatRanks } from "../../../src/base/units.js";
import type { RootCause, RunReport } from "../../../src/status/report.js";
import { formatReport } from "../../../src/status/report-text.js";

const worker = (
	rank: number,
	exitCode: number,
	signal: string | null,
	collateral = false,
) => ({
	rank,
	localRank: rank,
	pid: 4709 + rank,
	exitCode,
	signal,
	collateral,
});

const cause: RootCause = {
	failure: {
		...{ id: "node-a/1/2", nodeId: "node-a", round: 2, rank: 2, localRank: 2 },
		...{ role: "default", pid: 4711, exitCode: 1, signal: null },
		...{ uptimeMs: 41_234, timestamp: 0, description: "exit code 1" },
	},
	error: {
		message: "RuntimeError: shape mismatch",
		stack: 'Traceback:\n  File "train.py", line 7\n',
	},
	lastLines: ["step 41", "\x1b[31mRuntimeError\x1b[0m: shape mismatch"],
	logFile: "/logs/train-1f3a/1/node-a/round-2/2/stderr.log",
};
const ROUNDS = [
	{
		...{ round: 1, startedAt: 0, worldSize: 4, recoveryMs: null },
		...{ ranMs: 12_000, ending: "rank 0 on node-a: killed by SIGKILL" },
	},
	{
		// Somebody has set the clock back.
		...{ round: 2, startedAt: -3_600_000, worldSize: 4, recoveryMs: 340 },
		...{ ranMs: 41_234, ending: "rank 2 on node-a: exit code 1" },
	},
];
const failed: RunReport = {
	...{ outcome: "failed", exitCode: 1, runId: "train-1f3a", nodeId: "node-a" },
	instance: 1_795_163_940_000,
	reason: "the budget of 1 restart is spent",
	rootCause: cause,
	rounds: ROUNDS,
	restarts: { used: 1, allowed: 1 },
	workers: [
		worker(0, 143, "SIGTERM", true),
		worker(1, 143, "SIGTERM", true),
		worker(2, 1, null),
		worker(3, 134, "SIGABRT"),
	],
	stuck: ["1 peer was stuck: rank 1 at train.py:41 in all_reduce"],
	logDir: "/logs/train-1f3a/1/node-a",
};
const because = (
	failure: Partial<RootCause["failure"]>,
	others: Partial<RootCause> = {},
): Partial<RunReport> => ({
	rootCause: { ...cause, ...others, failure: { ...cause.failure, ...failure } },
});

describe("formatReport", () => {
	it("C5 tells an ending that is that of the round above as the same", () => {
		const [first] = ROUNDS;
		const ending = first?.ending ?? "";
		const rounds = ROUNDS.map((story) => ({ ...story, ending }));
		const text = formatReport({ ...failed, rounds }, false);
		expect(text.split(ending)).toHaveLength(2);
		expect(text).toMatch(/2 +4 +340 ms .* same as above/);
	});

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
1 peer was stuck: rank 1 at train.py:41 in all_reduce
  round  workers  recovery     ran  ended by
      1        4         -  12.0 s  rank 0 on node-a: killed by SIGKILL
      2        4    340 ms  41.2 s  rank 2 on node-a: exit code 1
restarts: 1 of 1 used
ended: the budget of 1 restart is spent
logs: /logs/train-1f3a/1/node-a
`,
		);
	});

	it("tells what it knows of a failure on another node", () => {
		const elsewhere = because(
			{
				...{ nodeId: "node-b", rank: 9, pid: 77, exitCode: 137 },
				...{ signal: "SIGKILL", description: "killed by SIGKILL" },
				message: "out of\nmemory",
			},
			{ error: undefined, lastLines: [], logFile: undefined },
		);
		const nothing = { workers: [], rounds: [], stuck: [], logDir: null };
		const report = { ...failed, ...elsewhere, ...nothing };
		expect(formatReport(report, false)).toBe(
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

	it.each<[string, Partial<RunReport>, string]>([
		[
			"no exit code of a worker that was given up",
			because({ isGivenUp: true, uptimeMs: 0, description: "gave no answer" }),
			"round 2: gave no answer\n  local rank 2, role default\n",
		],
		[
			"that streams were not redirected",
			because({}, { logFile: undefined }),
			"\n  log: none: its stderr was not redirected\n",
		],
		[
			"that the worker was started warm",
			because({ startedWarm: true }),
			"\n  it was started warm; to start all workers in the usual way: --warm off\n",
		],
		[
			"the run where no worker is the cause",
			{ rootCause: null, workers: [], rounds: [], stuck: [] },
			"run train-1f3a failed: the budget of 1 restart is spent\nrestarts: 1 of 1 used\n",
		],
		[
			"that there was no place for this node",
			{ outcome: "succeeded", rounds: [] },
			"run train-1f3a succeeded without this node\n",
		],
		[
			"one line of a run that succeeded",
			{ outcome: "succeeded" },
			"run train-1f3a succeeded: 2 rounds, 1 restart, 53.6 s\n",
		],
	])("says %s", (_, change, words) => {
		expect(formatReport({ ...failed, ...change }, false)).toContain(words);
	});

	it("colours the first line only, and only where asked", () => {
		const [first, ...others] = formatReport(failed, true).split("\n");
		expect(first).toBe(
			"\x1b[1;31mroot cause: rank 2 on node-a (pid 4711), round 2: exit code 1\x1b[0m",
		);
		expect(others.join("")).not.toContain("\x1b");
	});

	it("lets no peer or worker write control sequences", () => {
		const evil = JSON.stringify(failed).replaceAll(
			"node-a",
			"\\u001b[2Jnode-a",
		);
		expect(formatReport(JSON.parse(evil), false)).not.toContain("\x1b");
	});

	it("stays readable after many rounds, long lines and deep stacks", () => {
		const error = { message: "x", stack: "at y\n".repeat(500) };
		const long = because({}, { error, lastLines: ["z".repeat(5_000)] });
		const rounds = ROUNDS.flatMap((round) => Array(100).fill(round));
		const report = formatReport({ ...failed, ...long, rounds }, false);
		expect(report).toContain("… 180 earlier rounds");
		expect(report).toContain("… 440 more lines");
		const lines = report.split("\n");
		expect(lines.length).toBeLessThan(100);
		expect(Math.max(...lines.map(({ length }) => length))).toBeLessThan(1_010);
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
