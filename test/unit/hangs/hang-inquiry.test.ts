import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import {
	INITIAL_STATE,
	type Running,
} from "../../../src/agent/machine/state.js";
import type { WorkerProcess } from "../../../src/agent/workers/worker-process.js";
import { type Clock, systemClock } from "../../../src/base/clock.js";
import {
	HangInquiry,
	type HungWorker,
} from "../../../src/hangs/hang-inquiry.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import type { Topic } from "../../../src/model/topic.js";
import { isAlive, temporaryFolder } from "../../helpers/processes.js";
import { runView, seatRecord } from "../../helpers/run-view.js";
import { silentWorker } from "../../helpers/silent-worker.js";
import { onTestFinished } from "../../helpers/this-test.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { workerSlot } from "../../helpers/worker-slots.js";

const STILL = { limitMs: 60_000, slowMs: 180_000, stillMs: 61_000 } as const;

/** No system has so many pids. */
const GONE: WorkerProcess = {
	...{ localRank: 0, rank: 0, pid: 2 ** 22 + 1, directory: "/none" },
	logs: undefined,
};

/** A round of so many nodes; this one has the lowest rank. */
const running = (
	seats: number,
	processes: readonly WorkerProcess[],
): Running => ({
	...INITIAL_STATE,
	...{ phase: "RUNNING", instance: 7, round: 2, failure: null },
	...{ failuresReported: 0, seat: seatRecord("node-a") },
	view: { ...runView({ seats }, []), seat: null },
	workers: processes.map(({ localRank, pid }) =>
		workerSlot(localRank, { pid }),
	),
});

interface Asked {
	readonly clock: Clock;
	readonly evidenceMs: number;
	readonly seats: number;
	readonly processes?: readonly WorkerProcess[];
	/** What the store answers to each call. */
	readonly call?: () => Promise<undefined>;
	/** It has made a step before. */
	readonly hasStepped?: boolean;
	readonly isUnsure?: boolean;
	/** What the store has of another node's steps. */
	readonly others?: ProgressRecord;
	readonly onHung: (hung: HungWorker, logs: string) => void;
}

/** Asks what is to follow when a node's workers stand still. */
function inquire({ clock, evidenceMs, seats, onHung, ...rest }: Asked) {
	const { processes = [GONE], hasStepped = true, call = noStore } = rest;
	const { others, isUnsure = false } = rest;
	const { path: logDirectory, remove } = temporaryFolder();
	onTestFinished(remove);
	const topic = { publish: call, read: call } as Topic<never>;
	const read = async () => new Map(others && [[others.nodeId, others]]);
	const progress = others ? { read } : topic;
	const inquiry = new HangInquiry({
		...{ clock, logDirectory, processes: () => processes },
		...{ nodeId: "node-a", cwd: "/job", progress: () => [] },
		log: { info: () => {}, warn: () => {} },
		steps: { evidenceMs, onHang: "restart" },
		topics: { progress, evidence: topic },
		onHung: (_, hung) => onHung(hung, logDirectory),
	});
	const since = clock.now() - STILL.stillMs;
	const start = hasStepped
		? undefined
		: {
				localRank: 0,
				isUncounted: others !== undefined,
				isUsual: false,
				isUnsure,
			};
	return inquiry.inquire(
		{ ...STILL, since, movedAt: undefined, start },
		running(seats, processes),
		{ isOver: () => false, goesOn: () => false, killed: () => undefined },
	);
}

/** One node asks no store but for what the others do. */
async function noStore() {
	return undefined;
}

it.each<[string, () => Promise<undefined>]>([
	["does not answer", () => new Promise(() => {})],
	["answers nothing", async () => undefined],
])("A5 evidence holds up what follows no longer than its time-out where the store %s", async (_, call) => {
	const clock = new VirtualClock();
	let hungAt: number | undefined;
	const begun = clock.now();
	const onHung = () => {
		hungAt = clock.now();
	};
	const asked = inquire({ clock, evidenceMs: 300, seats: 2, call, onHung });
	await clock.advance(10_000);
	expect(hungAt).toBe(begun + 300);
	expect(await asked).toMatchObject({ hang: { kind: "hung" } });
	expect(clock.nextAlarm).toBeUndefined();
});

it("A5 evidence and verdict are on disk before the worker that hangs is ended", async () => {
	const worker = await silentWorker();
	const there: string[] = [];
	let isUnattributed: boolean | undefined;
	await inquire({
		...{ clock: systemClock, evidenceMs: 60_000, seats: 1 },
		processes: [worker.process],
		onHung: (hung, logs) => {
			({ isUnattributed } = hung);
			const files = ["rank-3.txt", "hang.json"].map((name) =>
				join(logs, "round-2", "hang-1", name),
			);
			there.push(...files.map((file) => readFileSync(file, "utf8")));
			expect(isAlive(worker.process.pid)).toBe(true);
		},
	});
	expect(isUnattributed).toBe(false);
	expect(there[0]).toMatch("at: train.py:41 in load_batch");
	expect(JSON.parse(there[1] ?? "")).toMatchObject({ suspects: [{ rank: 3 }] });
});

it("A5 a worker that stands for all of a round without a suspect is not blamed", async () => {
	const one = await silentWorker();
	const other = await silentWorker();
	const processes = [
		{ ...one.process, rank: 0 },
		{ ...other.process, rank: 1, localRank: 1 },
	];
	const hung: HungWorker[] = [];
	const asked = await inquire({
		...{ clock: systemClock, evidenceMs: 60_000, seats: 1, processes },
		onHung: (one) => hung.push(one),
	});
	expect(asked).toMatchObject({ hang: { suspect: null } });
	expect(hung).toMatchObject([{ isUnattributed: true }]);
});

it.each([
	[true, "hang"],
	[false, "start"],
])("J11 rules are told whether a worker that makes no step has made one before (%s): %s", async (hasStepped, cause) => {
	const clock = new VirtualClock();
	const hung: HungWorker[] = [];
	const asked = inquire({
		...{ clock, evidenceMs: 300, seats: 1, hasStepped },
		onHung: (one) => hung.push(one),
	});
	await clock.advance(1_000);
	await asked;
	expect(hung).toMatchObject([{ cause }]);
});

it.each([
	["makes steps: perhaps only that one tells its steps", 1, undefined],
	["makes none either", 0, "hung"],
])("A4 workers that have never told a step do not hang at the start where another node %s", async (_, count, kind) => {
	const clock = new VirtualClock();
	const hung: HungWorker[] = [];
	const step = { localRank: 0, step: 9, source: "output", rate: null } as const;
	const workers = [{ ...step, stepAt: clock.wallTime() }].slice(0, count);
	const others: ProgressRecord = {
		...{ version: 1, nodeId: "node-b", instance: 7, round: 2, workers },
	};
	const asked = inquire({
		...{ clock, evidenceMs: 300, seats: 2, hasStepped: false, others },
		onHung: (one) => hung.push(one),
	});
	await clock.advance(1_000);
	expect((await asked).hang?.kind).toBe(kind);
	expect(hung).toHaveLength(kind === undefined ? 0 : 1);
});

it("A4 workers that are not known to join a process group do not hang at the start unless those of another node wait for them", async () => {
	const clock = new VirtualClock();
	const hung: HungWorker[] = [];
	const asked = inquire({
		...{ clock, evidenceMs: 300, seats: 2, hasStepped: false, isUnsure: true },
		onHung: (one) => hung.push(one),
	});
	await clock.advance(1_000);
	expect(await asked).toMatchObject({ hang: undefined });
	expect(hung).toEqual([]);
});
