import { expect, it } from "vitest";
import { formatHistory } from "../../../src/operate/format-history.js";
import type { InstanceHistory } from "../../../src/status/history.js";
import { phasesOf } from "../../../src/status/round-times.js";
import { failureRecord, historyRecord } from "../../helpers/run-view.js";

const BEGUN = new Date(2026, 10, 21, 9, 5, 7).getTime();

const instance = (change: Partial<InstanceHistory>): InstanceHistory => ({
	...{ instance: 7, begunAt: BEGUN, endedAt: BEGUN + 61_000 },
	outcome: { result: "succeeded", reason: "all nodes have finished" },
	incidents: 1,
	repairs: {
		...{ count: 1, meanMs: 1_234, longestMs: 1_234 },
		toStep: { count: 1, meanMs: 34_100, longestMs: 34_100 },
	},
	...{ ranMs: 60_000, elapsedMs: 61_000, ranShare: 60 / 61, rounds: [] },
	...change,
});

it("says of each start how it ended, what was repaired, and round by round why and how fast", () => {
	const line = historyRecord({
		...{ round: 2, members: ["a", "c"], joined: ["c"], left: ["b"] },
		cause: {
			...{ kind: "failure", changeEvent: "SCALE_DOWN" },
			reason: "rank 1 on b: exit code 5\u001b[2J",
			root: failureRecord("b", { pid: 24150, timestamp: BEGUN - 20 }),
		},
		...{ begunAt: BEGUN, stoppedAt: BEGUN + 300, readyAt: BEGUN + 310 },
		...{ liftedAt: BEGUN + 312, startedAt: BEGUN + 412 },
	});
	const text = formatHistory({
		...{ version: 1, runId: "train" },
		instances: [
			instance({
				rounds: [
					{
						...line,
						phases: phasesOf(line),
						ranMs: 9_000,
						steps: null,
						starts: [],
					},
				],
			}),
			instance({
				...{ endedAt: null, outcome: null, elapsedMs: 2_000, ranShare: 0 },
				repairs: { count: 0, meanMs: null, longestMs: null },
			}),
			instance({ endedAt: null, outcome: null, elapsedMs: null }),
		],
	});
	expect(text.split("\n")).toMatchObject([
		"run train",
		"",
		"begun 2026-11-21 09:05:07 (instance 7), succeeded after 61.0 s: all nodes have finished",
		"  1 round, 1 incident, mean time to repair 1.2 s (1, the longest 1.2 s), to a step beyond 34.1 s (1, the longest 34.1 s), workers ran 98.4 % of the time",
		expect.stringMatching(/^round {2}workers .* begun because of$/),
		"2      4        2      09:05:07  20 ms    300 ms   10 ms  2 ms     100 ms   432 ms  9.0 s  rank 1 on b: exit code 5 (pid 24150); +c -b",
		"",
		"begun 2026-11-21 09:05:07 (instance 7), for 2.0 s",
		"  0 rounds, 1 incident, workers ran 0.0 % of the time",
		expect.any(String),
		"",
		"begun 2026-11-21 09:05:07 (instance 7), no agent was left to see its end",
		expect.any(String),
		expect.any(String),
		"",
	]);
});

it("says of each round how its workers were started, if one could be started warm", () => {
	const cold = {
		nodeId: "a",
		warm: 0,
		cold: 2,
		toFirstMs: 5_000,
		...{ savedMs: null, kind: null },
	};
	const warm = {
		...{ nodeId: "a", warm: 2, cold: 0, toFirstMs: 300 },
		...{ reason: null, kind: null },
	};
	const starts = [
		[{ ...cold, reason: "no step was made before" }],
		[
			{ ...warm, savedMs: 4_700 },
			{ ...warm, nodeId: "b", savedMs: 3_100 },
		],
		[{ ...warm, cold: 1, savedMs: null, reason: "no process is ready yet" }],
		[{ ...warm, savedMs: null }],
		[],
	];
	const line = historyRecord({ round: 1 });
	const about = { phases: phasesOf(line), ranMs: 1, steps: null };
	const rounds = starts.map((one) => ({ ...line, ...about, starts: one }));
	const text = formatHistory({
		...{ version: 1, runId: "train", instances: [instance({ rounds })] },
	});
	const rows = text.split("\n").slice(4);
	const cells = [
		...["  start  ", "cold: no step was made before", "warm, saved 3.1 s"],
		...["2 of 3 warm: no process is ready yet", "  warm  ", "  -  "],
	];
	for (const [index, cell] of cells.entries()) {
		expect(rows[index]).toContain(cell);
	}
});
