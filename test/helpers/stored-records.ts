import type { Shape } from "../../src/base/shape.js";
import { EVIDENCE } from "../../src/model/evidence.js";
import { PROGRESS } from "../../src/model/progress.js";
import {
	DRAIN,
	RECREATED,
	REPLACED,
} from "../../src/rendezvous/records/departure-records.js";
import { HISTORY } from "../../src/rendezvous/records/history-record.js";
import { LEARNED } from "../../src/rendezvous/records/learned-record.js";
import { LEDGER } from "../../src/rendezvous/records/ledger-record.js";
import { PREFLIGHT } from "../../src/rendezvous/records/preflight-record.js";
import {
	BUDGET,
	COORDINATOR,
	FINISHED,
	NODE,
	ROUND,
	SEAT,
} from "../../src/rendezvous/records/records.js";
import { COMMAND, SPEC } from "../../src/rendezvous/records/run-spec.js";
import { WAITING } from "../../src/rendezvous/records/waiting-record.js";
import { ledgerRecord } from "./ledger-record.js";
import {
	failureRecord,
	historyRecord,
	nodeFailure,
	nodeRecord,
	roundRecord,
	seatRecord,
	WORLD,
} from "./run-view.js";

export type Versioned = { readonly version: 1 };

const root = failureRecord("a", {
	...{ isGivenUp: true, hint: "h", rule: "r", evidence: ["e"], message: "m" },
	...{ step: 1, startedWarm: true, said: "s", fingerprint: "f" },
	isUnattributed: true,
});
const cause = {
	...({ kind: "failure", changeEvent: null, reason: "r", root } as const),
	...{ ended: 1, noticedAfterMs: 1, isWish: true, roles: ["default"] },
};
export const outcome = {
	...({ result: "failed", exitCode: 1, reason: "r", root } as const),
	...{ endedAt: 1, repeated: ["line"] },
};
const unpaid = nodeFailure("a", {
	...{ failsRun: 1, unaware: true, paused: true, isWish: true, failure: root },
});
const notice = { source: "aws", reason: "r", deadline: 1 };
const spending = { count: 1, at: [1] };
const TERMS = { restartsAlone: true, maxRestarts: 1, windowMs: 1 } as const;
const nodes = { count: 1, names: ["a"] };

const worker = {
	...{ localRank: 0, step: 1, source: "report", stepAt: 1, rate: 1 },
	...{ metrics: { loss: 1 }, start: "warm" },
	pace: { by: "arrival", least: 1, usual: 1, most: 1 },
};
const evidence = {
	...{ rank: 0, localRank: 0, nodeId: "a", pid: 1, activity: "idle" },
	...{ waitChannel: "w", threads: 1, step: 1, where: "train.py:1" },
	frames: [{ file: "train.py", line: 1, function: "f" }],
	groups: [
		{
			...{ group: "g", ranks: [0], entered: 1 },
			unfinished: { sequence: 1, operation: "o", shape: "s" },
		},
	],
};

/** One of each kind, with all of its parts, so that each of their fields is tried. */
export const RECORDS: readonly [string, Shape<Versioned>, object][] = [
	[
		"round",
		ROUND,
		roundRecord({
			...{ cause, outcome, world: WORLD, unpaid, planId: "plan-1" },
			...{ chargedAt: [1], roles: { default: spending }, accounted: ["x"] },
			...{ furthest: { default: 1 }, fruitless: 1, preempted: spending },
			terms: { default: TERMS },
			repeated: {
				...{ fingerprint: "f", times: 1, step: 1 },
				...{ nodes: ["a"], lines: ["l"] },
			},
		}),
	],
	[
		"nodes/a",
		NODE,
		nodeRecord("a", {
			...{ failure: unpaid, pids: [7], ranSince: 1, ranUntil: 1 },
			...{ succeeds: "a-0", nodeRank: 1, reached: { round: 1, step: 1 } },
			...{ fencedIn: 1, cause: "c", awaitsWorkersMs: 1, runsOn: true },
			...{ isAsked: true, notice, terms: TERMS },
		}),
	],
	[
		"seats/a",
		SEAT,
		seatRecord("a", { previous: { planId: "plan-0", groupRank: 0 } }),
	],
	["seats/b", SEAT, { version: 1, incarnation: "b-1", refused: "spent" }],
	["coordinator", COORDINATOR, { version: 1, nodeId: "a", incarnation: "a-1" }],
	["finished/a", FINISHED, { version: 1, planId: "plan-1" }],
	[
		"budgets/a",
		BUDGET,
		{
			...{ version: 1, charged: 1, chargedAt: [1], workers: { 0: 1 } },
			...{ workersAt: { 0: [1] }, failures: spending, barred: "b" },
		},
	],
	[
		"spec",
		SPEC,
		{
			...{ version: 1, minNodes: 1, maxNodes: 2, policy: "hard" },
			...{ maxRestarts: 3, joinTimeoutMs: 1, lastCallTimeoutMs: 1 },
			...{ settleTimeoutMs: 1, leaseTtlMs: 1, deadlineMs: 1 },
			...{ finishedStay: true, isAlone: true },
			...{ driverRoles: "r", maxIdenticalFailures: 1, restartWindowMs: 1 },
			...{ maxNodeRestarts: 1, nodeWindowMs: 1, maxPreemptions: 1 },
			...{ preemptionWindowMs: 1, restartDelayMs: 1, restartDelayMaxMs: 1 },
		},
	],
	[
		"history/0000000001",
		HISTORY,
		historyRecord({
			...{ cause, members: ["a"], joined: ["a"], left: ["b"] },
			...{ noticedAfterMs: 1, begunAt: 1, stoppedAt: 1, startedAt: 1 },
			...{ endedAt: 1, ending: "e", outcome: "failed" },
		}),
	],
	[
		"waiting",
		WAITING,
		{
			...{ version: 1, instance: 1, round: 1, kind: "minimum", needed: 1 },
			...{ here: nodes, missing: nodes, minNodes: 1, maxNodes: 2 },
			...{ since: 1, until: 1 },
		},
	],
	[
		"commands/default",
		COMMAND,
		{
			...{ version: 1, instance: 1, words: "train.py" },
			...{ argumentsDigest: "a".repeat(64), scriptDigest: "b".repeat(64) },
		},
	],
	["recreated/a", RECREATED, { version: 1, incarnation: "a-1" }],
	[
		"replaced/a",
		REPLACED,
		{
			...{ version: 1, nodeId: "a", incarnation: "a-1", hostId: "h" },
			...{ address: "10.0.0.1", role: "default", reason: "r", at: 1 },
			...{ replacement: "b", caredForBy: "c", commandEnd: "exit code 0" },
		},
	],
	[
		"drains/a",
		DRAIN,
		{ version: 1, incarnation: "a-1", reason: "r", deadline: 1 },
	],
	[
		"preflights/a",
		PREFLIGHT,
		{
			...{ version: 1, nodeId: "a", verdict: "passed", findings: ["f"] },
			...{ at: 1, tookMs: 1 },
		},
	],
	[
		"progress/a",
		PROGRESS,
		{
			...{ version: 1, nodeId: "a", instance: 1, round: 1, firstRank: 0 },
			workers: [worker],
			straggler: {
				...{ rank: 0, node: "a", lostSecondsPerStep: 1 },
				...{ lostSeconds: 1, since: 1 },
			},
			hang: {
				...{ kind: "hung", since: 1 },
				suspect: { rank: 0, node: "a", why: "w", where: "train.py:1" },
			},
			busyUntil: 1,
		},
	],
	[
		"ledger/0000000001/a",
		LEDGER,
		{
			...ledgerRecord({ after: "finished", leftAt: 1, stragglerMs: 1 }),
			before: { step: 1, source: "report", startsOver: true },
			starts: { warm: 1, cold: 1, reason: "r", kind: "first" },
			nextStart: {
				...{ start: "cold", reason: "r", modules: 1, bytes: 1, waiting: 1 },
			},
		},
	],
	[
		"evidence/a",
		EVIDENCE,
		{
			...{ version: 1, instance: 1, round: 1, at: 1, asked: ["q"] },
			ranks: [evidence],
		},
	],
	["learned/d", LEARNED, { version: 1, modules: "eJwDAAAAAAE=", bytes: 1 }],
];
