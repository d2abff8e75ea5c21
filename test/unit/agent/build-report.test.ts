import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
	buildReport,
	type ReportSources,
} from "../../../src/agent/presence/build-report.js";
import type { WorkerWords } from "../../../src/agent/workers/worker-process.js";
import type { FailureRecord } from "../../../src/rendezvous/records/failure.js";
import type { RoundRecord } from "../../../src/rendezvous/records/records.js";
import type { RoundStory } from "../../../src/status/report.js";
import { formatReport } from "../../../src/status/report-text.js";
import { temporaryFolder } from "../../helpers/processes.js";
import { roundRecord } from "../../helpers/run-view.js";

const folder = temporaryFolder();
afterAll(() => folder.remove());

/** A worker's directory of a round, with a stderr of this text. */
function logsOf(round: number, text: string): string {
	const directory = join(folder.path, `round-${round}`, "1");
	mkdirSync(directory, { recursive: true });
	writeFileSync(join(directory, "stderr.log"), text);
	return directory;
}

const LIMITS = {
	...{ windowMs: 0, node: undefined, role: undefined },
	preemptions: undefined,
};
const HOUR = 3_600_000;
const WORKER = {
	...{ rank: 1, localRank: 1, exitCode: 9, signal: null, collateral: false },
};

const STORY: RoundStory = {
	...{ round: 1, startedAt: 0, worldSize: 2, recoveryMs: null, ranMs: 5 },
	ending: "rank 1 on node-a: exit code 9",
};

/** The report on a failure of local rank 1 in round 3. */
function reportOf(
	words: WorkerWords | undefined,
	config: Partial<ReportSources["config"]> = {},
	round: RoundRecord | null = null,
	ownBudget: ReportSources["ownBudget"] = null,
	failure: Partial<FailureRecord> = {},
) {
	return buildReport({
		config: {
			runId: "train",
			nodeId: "node-a",
			maxRestarts: 0,
			policyId: "hard",
			restartLimits: LIMITS,
			stdinRank: undefined,
			exitCodes: { replaceNode: 75, restart: 76, isPropagated: false },
			...config,
		},
		ending: {
			...{ outcome: "failed", exitCode: 1, reason: "over" },
			root: {
				...{ id: "f", nodeId: "node-a", round: 3, rank: 1, localRank: 1 },
				...{ role: "default", pid: 47, exitCode: 9, signal: null },
				...{ uptimeMs: 5, timestamp: 0, description: "exit code 9" },
				...failure,
			},
		},
		...{ round, instance: 1, wallTime: 6 * HOUR },
		rounds: [STORY, { ...STORY, round: 2 }],
		ownBudget,
		startsIn: (one) => (one === 2 ? { warm: 2, cold: 0 } : undefined),
		workers: [{ ...WORKER, pid: 47 }],
		progress: [
			{ localRank: 1, step: 41, source: "hook", stepAt: -35_000, rate: null },
		],
		stuck: [],
		wordsOf: () => words,
		logDir: folder.path,
	});
}

it("says of each round how this node's workers were started, if some could be started warm", () => {
	expect(reportOf(undefined).rounds).toEqual([
		STORY,
		{ ...STORY, round: 2, starts: { warm: 2, cold: 0 } },
	]);
});

describe("the words of the worker that failed", () => {
	const first = logsOf(1, "of the one before\n");
	const second = logsOf(2, "of the one that was kept\n");

	it("are those of the round in which it was started, the newest where that is not known", () => {
		expect(reportOf(undefined).rootCause).toMatchObject({
			lastLines: ["of the one that was kept"],
			logFile: join(second, "stderr.log"),
		});
	});

	it("are those of its own directory where that is known, whatever others there are", () => {
		const logFile = join(first, "stderr.log");
		const words = { directory: first, logFile, lostLines: undefined };
		expect(reportOf(words).rootCause).toMatchObject({
			...{ lastLines: ["of the one before"], logFile },
		});
	});

	it("are those that were read when it ended, where its file has gone; the report says so", () => {
		const logFile = join(folder.path, "round-3", "1", "stderr.log");
		const lostLines = ["the last words"];
		const report = reportOf({ directory: first, logFile, lostLines });
		const text = formatReport(report, false);
		expect(text).toContain("  | the last words\n");
		expect(text).toContain(`log: ${logFile} was removed or renamed`);
	});

	it("A4 come after its last step, and how long before that was", () => {
		const report = reportOf(undefined);
		expect(report.rootCause?.lastStep).toEqual({ step: 41, secondsBefore: 35 });
		expect(formatReport(report, false)).toContain(
			"\n  last step: 41, 35.0 s before\n",
		);
	});

	it.each([
		["another node tells them", { nodeId: "node-b" }],
		["it failed in an earlier round", { pid: 46 }],
	])("A4 come after its last step also where %s", (_, change) => {
		const report = reportOf(undefined, {}, null, null, { step: 7, ...change });
		expect(report.rootCause?.lastStep).toEqual({ step: 7 });
		expect(formatReport(report, false)).toContain("\n  last step: 7\n");
	});

	it("are not looked for where its stderr was not redirected", () => {
		const words = {
			directory: first,
			logFile: undefined,
			lostLines: undefined,
		};
		const text = formatReport(reportOf(words), false);
		expect(text).toContain("log: none: its stderr was not redirected\n");
	});
});

describe("the budgets", () => {
	const round = roundRecord({
		...{ incidents: 4, charged: 3, chargedAt: [0, 2 * HOUR, 3 * HOUR] },
		roles: { reader: { count: 1, at: [] } },
		terms: { reader: { restartsAlone: false, maxRestarts: 5 } },
	});
	const limits = { ...LIMITS, windowMs: 5 * HOUR };

	it("D2 are those of the run and of its roles, and when the next restart comes back", () => {
		const limited = { maxRestarts: 3, restartLimits: limits };
		const report = reportOf(undefined, limited, round);
		expect(report.restarts).toEqual({
			...{ used: 3, allowed: 3, windowMs: 5 * HOUR },
			...{ left: 1, nextBackAt: 7 * HOUR },
			roles: { reader: { allowed: 5, used: 1, left: 4 } },
		});
		expect(formatReport(report, false)).toContain(
			"\nrestarts: 3 used, 1 of 3 in 5 h 0 min left (the next one comes back at 1970-01-01 07:00:00 UTC); role reader: 4 of 5 left\n",
		);
	});

	it("D2 are this node's as well", () => {
		const own = { allowed: 3, used: 1, left: 2, windowSeconds: 18_000 };
		const config = { policyId: "soft", maxRestarts: 3, restartLimits: limits };
		const budget = { ...own, nextBackAt: 7 * HOUR };
		const report = reportOf(undefined, config, round, budget);
		expect(report.restarts.node).toEqual(budget);
		expect(formatReport(report, false)).toContain(
			"; this node: 2 of 3 in 5 h 0 min left (the next one comes back at 1970-01-01 07:00:00 UTC); role reader: 4 of 5 left\n",
		);
	});

	it.each([
		"soft",
		"soft-replace",
	])("D2 of %s are not told as if the run had one", (policyId) => {
		const config = { policyId, maxRestarts: 3, restartLimits: limits };
		const report = reportOf(undefined, config, { ...round, terms: undefined });
		expect(report.restarts).toEqual({
			...{ used: 3, allowed: 3, windowMs: 5 * HOUR },
		});
		expect(formatReport(report, false)).toContain(
			"\nrestarts: 3; each node, or each worker, has a budget of 3 in 5 h 0 min\n",
		);
	});
});
