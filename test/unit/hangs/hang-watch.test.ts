import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import {
	type AgentState,
	INITIAL_STATE,
	type Running,
} from "../../../src/agent/machine/state.js";
import type { WorkerSlot } from "../../../src/agent/machine/worker.js";
import type { Clock } from "../../../src/base/clock.js";
import type { StillRound } from "../../../src/hangs/hang-inquiry.js";
import { HangWatch } from "../../../src/hangs/hang-watch.js";
import type { Standstill } from "../../../src/hangs/standstill.js";
import type { Hang } from "../../../src/model/hang.js";
import type { ProgressRecord } from "../../../src/model/progress.js";
import { nextLook, StepWatch } from "../../../src/steps/step-watch.js";
import { WorkerReaders } from "../../../src/steps/worker-readers.js";
import { seatRecord } from "../../helpers/run-view.js";
import { VirtualClock } from "../../helpers/virtual-clock.js";
import { workerSlot } from "../../helpers/worker-slots.js";

const folder = mkdtempSync(join(tmpdir(), "elastic-run-watch-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const HANG: Hang = {
	...{ kind: "hung", since: 2_000 },
	suspect: { rank: 1, node: "node-b", why: "it sleeps", where: null },
};
type Again = Promise<number | undefined> | number | undefined;

let sites = 0;

/** A watch over two workers, whose steps a test writes as their hooks do. */
function open(
	again: (still: Standstill, round: StillRound) => Again = () => undefined,
) {
	const base = new VirtualClock(1_000);
	/** How long this process was stopped: its timers come late by that. */
	let stoppedMs = 0;
	const clock: Clock = {
		now: () => base.now() + stoppedMs,
		wallTime: () => base.wallTime() + stoppedMs,
		asleep: () => 0,
		wakeAt: (at, wake) => base.wakeAt(at - stoppedMs, wake),
	};
	const path = join(folder, String(++sites));
	const processes = [0, 1].map((localRank) => {
		const directory = join(path, String(localRank));
		mkdirSync(join(directory, "hook"), { recursive: true });
		const pid = 100 + localRank;
		return { localRank, rank: localRank, pid, directory, logs: undefined };
	});
	const stills: Standstill[] = [];
	const hangs: string[] = [];
	const said: string[] = [];
	const published: ProgressRecord[] = [];
	let lostUntil = 0;
	let fills = false;
	const unread: (() => void)[] = [];
	/** What the ledger is told, in order. */
	const counted: (string | number)[] = [];
	const readers = new WorkerReaders({
		...{ clock, pattern: /step (\d+)/, processes: () => processes },
		onStep: (_directory, { step }) => void counted.push(step),
		onPhase: () => {},
		onLossGone: () => {},
	});
	const hangWatch = new HangWatch({
		...{ clock, processes: () => processes, readers },
		limits: { hangMs: 60_000, startMs: 0 },
		readOomKills: () => undefined,
		log: { info: (line) => void said.push(line) },
		lostSteps: {
			look: async () => {
				if (fills) lostUntil = clock.now();
			},
			until: () => lostUntil,
		},
		inquiry: {
			inquire: async (still, _node, round) => {
				stills.push(still);
				const since = clock.wallTime() - still.stillMs;
				return { again: await again(still, round), hang: { ...HANG, since } };
			},
		},
		onHang: (kind) => void hangs.push(kind),
	});
	const watch = new StepWatch({
		...{ clock, nodeId: "node-a", processes: () => processes, readers },
		progress: { publish: async (record) => void published.push(record) },
		readReports: () => {
			for (const read of unread.splice(0)) read();
		},
		ledger: {
			follow: ({ phase }) => void counted.push(phase),
			announced: () => {},
		},
		straggler: () => undefined,
		judge: hangWatch,
		onLook: () => {},
	});
	const follow = (state: AgentState) => {
		hangWatch.follow(state);
		watch.follow(state);
	};
	const run = (round: number, change: Partial<WorkerSlot> = {}) => {
		const state: Running = {
			...INITIAL_STATE,
			...{ phase: "RUNNING", view: null, instance: 7, failure: null },
			...{ failuresReported: 0, round, seat: seatRecord("node-a") },
			workers: processes.map(({ localRank, pid }) =>
				workerSlot(localRank, { pid, ...change }),
			),
		};
		follow(state);
	};
	const step = (localRank: number, number: number) =>
		writeFileSync(
			join(path, String(localRank), "hook", "steps"),
			String(number).padStart(20),
		);
	const report = (localRank: number, said: object) =>
		watch.heard(join(path, String(localRank)), {
			...{ kind: "PROGRESS", sequence: 1, timestamp: clock.wallTime() },
			...said,
		});
	/** It is written, but no notification has come yet. */
	const reportUnread = (step: number) =>
		void unread.push(() => report(0, { step }));
	const pass = (ms: number) => base.advance(ms);
	const stop = (ms: number) => {
		stoppedMs += ms;
	};
	/** From now on each look finds the disk full, or not. */
	const fill = (isFull: boolean) => {
		fills = isFull;
	};
	return {
		...{ clock, watch, follow, run, step, pass, stop, stills, published },
		...{ report, reportUnread, counted, hangs, fill, said, readers },
	};
}

describe("the watch on steps", () => {
	it("counts what was reported before a round ended in that round, and nothing that came after it", () => {
		const { follow, run, reportUnread, counted } = open();
		run(1);
		reportUnread(7);
		follow(INITIAL_STATE);
		// A kept worker reports as soon as it has its WORK.
		reportUnread(5);
		run(2);
		reportUnread(6);
		follow(INITIAL_STATE);
		expect(counted).toEqual([
			"RUNNING",
			7,
			"JOINING",
			"RUNNING",
			5,
			6,
			"JOINING",
		]);
	});

	it("A5 hears that a worker saves although its round is over, and counts no step for that", () => {
		const { follow, run, report, readers, counted } = open();
		run(1);
		follow(INITIAL_STATE);
		report(0, { step: 7 });
		expect(readers.isBusy).toBe(false);
		report(0, { step: 8, busy: "checkpoint", for_seconds: 600 });
		expect(readers.isBusy).toBe(true);
		expect(counted).toEqual(["RUNNING", "JOINING"]);
		run(2);
		expect(readers.isBusy).toBe(false);
	});

	it("A4 publishes steps when they change, at most once in two seconds", async () => {
		const { run, step, pass, published } = open();
		run(1);
		step(0, 1);
		await pass(1_000);
		step(0, 2);
		step(1, 2);
		await pass(1_000);
		expect(published).toHaveLength(1);
		await pass(5_000);
		expect(published.map(({ workers }) => workers.length)).toEqual([1, 2]);
		expect(published[1]).toMatchObject({
			...{ nodeId: "node-a", instance: 7, round: 1 },
			workers: [{ step: 2, source: "hook" }, { step: 2 }],
		});
	});

	it("A5 tells of a standstill once, and again only after a step", async () => {
		const { run, step, pass, stills } = open();
		run(1);
		step(0, 1);
		await pass(60_000);
		expect(stills).toEqual([]);
		await pass(2_000);
		expect(stills).toMatchObject([{ limitMs: 60_000 }]);
		await pass(600_000);
		expect(stills).toHaveLength(1);
		step(1, 1);
		await pass(62_000);
		expect(stills).toHaveLength(2);
	});

	it("A4 tells once of a worker that stands still alone, while the other one makes steps", async () => {
		const { run, step, pass, stills, published } = open();
		run(1);
		step(0, 1);
		for (let number = 1; number < 30; number++) {
			step(1, number);
			await pass(5_000);
		}
		expect(stills).toMatchObject([{ alone: [0], limitMs: 60_000 }]);
		expect(published.at(-1)).toMatchObject({ hang: HANG });
		step(0, 2);
		step(1, 30);
		await pass(5_000);
		expect(published.at(-1)?.hang).toBeUndefined();
	});

	it("A5 tells of a standstill at the moment of the limit, not at the next look of each second", async () => {
		const { clock, run, report, pass, stills } = open();
		run(1);
		await pass(500);
		report(0, { step: 1, timestamp: clock.wallTime() });
		await pass(59_999);
		expect(stills).toEqual([]);
		await pass(1);
		expect(stills).toMatchObject([{ stillMs: 60_000 }]);
	});

	it("A5 publishes what was found out, until the next step, and counts it once", async () => {
		const site = open(() => site.clock.now() + 30_000);
		site.run(1);
		site.step(0, 1);
		await site.pass(100_000);
		expect(site.stills).toHaveLength(2);
		expect(site.hangs).toEqual(["hung"]);
		expect(site.published.at(-1)?.hang?.suspect).toEqual(HANG.suspect);
		site.step(0, 2);
		await site.pass(4_000);
		expect(site.published.at(-1)?.hang).toBeUndefined();
	});

	it("C3 says once that steps come again after it has told of a standstill, and after how long", async () => {
		const site = open(() => site.clock.now() + 600_000);
		site.run(1);
		site.step(0, 1);
		await site.pass(95_000);
		expect(site.said).toEqual([]);
		site.step(0, 2);
		await site.pass(2_000);
		site.step(0, 3);
		await site.pass(10_000);
		expect(site.said).toEqual([
			"round 1: steps come again, after 95.0 s without one",
		]);
	});

	it("A5 judges a new standstill in time, although the last one was given more", async () => {
		const site = open(() => site.clock.now() + 600_000);
		site.run(1);
		site.step(0, 1);
		await site.pass(62_000);
		site.step(0, 2);
		await site.pass(62_000);
		expect(site.stills).toHaveLength(2);
	});

	it("A4 does not take the number of a kept worker for a step of the new round", async () => {
		const { run, step, pass, watch } = open();
		run(1);
		step(0, 9);
		await pass(2_000);
		expect(watch.lastProgress()).toMatchObject([{ step: 9 }]);
		run(2);
		await pass(2_000);
		expect(watch.lastProgress()).toEqual([]);
		step(0, 10);
		await pass(1_000);
		expect(watch.lastProgress()).toMatchObject([{ step: 10 }]);
	});

	it.each<[string, Partial<WorkerSlot>]>([
		["is not started", { pid: null }],
		["is told to end", { killAt: 9e9 }],
		["has ended, with others of its group left", { status: "exited" }],
		["is paused", { status: "paused" }],
	])("A5 judges nothing while a worker %s", async (_, change) => {
		const { run, step, pass, stills } = open();
		run(1, change);
		step(0, 1);
		await pass(200_000);
		expect(stills).toEqual([]);
	});

	it("A5 judges nothing at once after the launcher itself was stopped", async () => {
		const { run, step, pass, stop, stills } = open();
		run(1);
		step(0, 1);
		await pass(2_000);
		stop(300_000);
		await pass(2_000);
		expect(stills).toEqual([]);
		await pass(50_000);
		expect(stills).toEqual([]);
		await pass(20_000);
		expect(stills).toHaveLength(1);
	});

	it("A5 judges nothing while a full disk may have lost the steps, and looks at the disk before it judges", async () => {
		const { run, step, pass, fill, stills } = open();
		run(1);
		step(0, 1);
		await pass(50_000);
		fill(true);
		await pass(300_000);
		expect(stills).toEqual([]);
		fill(false);
		await pass(62_000);
		expect(stills).toHaveLength(1);
	});

	it("A5 heeds what is announced right after a step that it has not seen yet", async () => {
		const { run, step, report, pass, stills } = open();
		run(1);
		step(0, 1);
		await pass(1_500);
		step(0, 2);
		report(0, { busy: "checkpoint", for_seconds: 600 });
		await pass(500_000);
		expect(stills).toEqual([]);
		await pass(170_000);
		expect(stills).toHaveLength(1);
	});

	it("A5 publishes until when a worker is busy, for nodes that wait for it", async () => {
		const { clock, run, step, report, pass, published } = open();
		run(1);
		step(0, 1);
		await pass(5_000);
		report(0, { busy: "checkpoint", for_seconds: 600 });
		const until = clock.wallTime() + 600_000;
		await pass(5_000);
		const told = published.at(-1)?.busyUntil ?? 0;
		expect(Math.abs(told - until)).toBeLessThanOrEqual(1_000);
		await pass(650_000);
		expect(published.at(-1)?.busyUntil).toBe(told);
		step(0, 2);
		await pass(5_000);
		expect(published.at(-1)?.busyUntil).toBeUndefined();
	});

	it("A5 takes the hook's steps for life where a script reports its epochs", async () => {
		const { run, step, report, pass, stills, watch } = open();
		run(1);
		report(0, { step: 1 });
		for (let number = 1; number < 30; number++) {
			step(0, number);
			await pass(10_000);
		}
		expect(stills).toEqual([]);
		expect(watch.lastProgress()).toMatchObject([{ step: 1, source: "report" }]);
	});

	it("A5 tells whether a worker has moved while evidence was taken, and judges the next standstill", async () => {
		const seen: string[] = [];
		const site = open(async (_still, round) => {
			await new Promise<void>((resolve) => {
				site.clock.wakeAt(site.clock.now() + 3_000, resolve);
			});
			seen.push(round.isOver() ? "over" : round.goesOn() ? "moved" : "still");
			return undefined;
		});
		site.run(1);
		site.step(0, 1);
		await site.pass(62_000);
		site.step(0, 2);
		await site.pass(62_500);
		site.run(2);
		await site.pass(8_000);
		site.step(0, 3);
		await site.pass(70_000);
		expect(seen).toEqual(["moved", "over", "still"]);
	});

	it("A4 reads nothing while no round runs", async () => {
		const { watch, run, step, pass, published } = open();
		run(1);
		watch.close();
		step(0, 1);
		await pass(5_000);
		expect(published).toEqual([]);
	});
});

it.each([
	["at another time of the second: on the agent's beat", { now: 4_300 }, 5_000],
	["it has waited 40 s for a first step", { now: 40_100, since: 100 }, 42_000],
	["it has waited an hour", { now: 3_600_000, since: 0 }, 3_605_000],
	["it would stand still before", { now: 4_300, still: 4_650 }, 4_650],
	["it has stood still", { now: 4_300, still: 4_000 }, 5_000],
])("A4 looks again after a while where %s", (_, times, at) => {
	const { now, since, still } = { since: times.now, still: 0, ...times };
	expect(nextLook(now, since, still)).toBe(at);
});
