import {
	appendFileSync,
	mkdtempSync,
	rmSync,
	utimesSync,
	writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { systemClock } from "../../../src/base/clock.js";
import { HeldFile } from "../../../src/logs/held-file.js";
import { WorkerReader } from "../../../src/steps/worker-reader.js";

const directory = mkdtempSync(join(tmpdir(), "elastic-run-reader-"));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const NO_PHASE = join(directory, "no-phase");

describe("the reader of a worker", () => {
	it("A4 takes the first number in the output for no step made: any text may have one", () => {
		const path = join(directory, "stdout.log");
		writeFileSync(path, "resuming from step 5000\n");
		const reader = new WorkerReader({
			...{ clock: systemClock, pattern: /step[ =:]+(\d+)/ },
			hookFiles: { steps: join(directory, "steps"), phase: NO_PHASE },
			outputs: [{ file: new HeldFile(path), startBytes: 0 }],
		});
		reader.look(1_000);
		expect(reader.steps).toMatchObject({ step: 5_000, source: "output" });
		expect(reader.movement).toBeUndefined();
		appendFileSync(path, "step 5000\nstep 5001\n");
		reader.look(2_000);
		expect(reader.movement).toMatchObject({ at: 2_000, moves: 1 });
	});

	it("A5 is counted by the surest source that has shown a step, in whatever round", () => {
		const path = join(directory, "both.log");
		const hookFile = join(directory, "later-steps");
		writeFileSync(path, "");
		const reader = new WorkerReader({
			...{ clock: systemClock, pattern: /step (\d+)/ },
			hookFiles: { steps: hookFile, phase: NO_PHASE },
			outputs: [{ file: new HeldFile(path), startBytes: 0 }],
		});
		const found = [reader.countedBy];
		const lookAt = (now: number) => {
			reader.look(now);
			found.push(reader.countedBy);
		};
		appendFileSync(path, "step 1\n");
		lookAt(1_000);
		const said = { kind: "PROGRESS", sequence: 1, timestamp: 2_000 } as const;
		reader.heard({ ...said, step: 1 }, 2_000);
		lookAt(2_000);
		writeFileSync(hookFile, "1".padStart(20));
		lookAt(3_000);
		reader.beginRound();
		lookAt(4_000);
		expect(found).toEqual([undefined, "output", "report", "hook", "hook"]);
	});

	it("A5 takes the time of the hook's file for that of its step, if it is since the last look", () => {
		const hookFile = join(directory, "hook-steps");
		const clock = { now: () => 0, wallTime: () => 1_000_000_000 };
		const reader = new WorkerReader({
			...{ clock, pattern: /step (\d+)/, outputs: [] },
			hookFiles: { steps: hookFile, phase: NO_PHASE },
		});
		const step = (number: number, at: number) => {
			writeFileSync(hookFile, String(number).padStart(20));
			const seconds = (clock.wallTime() + at) / 1_000;
			utimesSync(hookFile, seconds, seconds);
		};
		const lookAt = (now: number) => {
			reader.look(now);
			return reader.movement?.at;
		};
		step(1, 700);
		expect(lookAt(1_000)).toBe(1_000);
		step(2, 1_250);
		expect(lookAt(2_000)).toBe(1_250);
		step(3, 500);
		expect(lookAt(3_000)).toBe(2_000);
		step(4, 9_000);
		expect(lookAt(4_000)).toBe(4_000);
	});

	it("A4 is busy while its hook tells of a phase; then the limit counts, until a step ends it", () => {
		const phase = join(directory, "phase");
		const steps = join(directory, "phase-steps");
		const clock = { now: () => 0, wallTime: () => 1_000_000_000 };
		const said: unknown[] = [];
		let now = 0;
		let setBy = 0;
		const reader = new WorkerReader({
			clock: { ...clock, wallTime: () => clock.wallTime() + now + setBy },
			...{ pattern: /step (\d+)/, outputs: [] },
			hookFiles: { steps, phase },
			onPhase: ({ busy }, at) => said.push([busy, at]),
		});
		const tell = (since: number, what: string) => {
			const began = String(clock.wallTime() + since).padStart(20);
			writeFileSync(phase, `${began}${"60".padStart(20)}${what.padEnd(40)}`);
			const seconds = (clock.wallTime() + since) / 1_000;
			utimesSync(phase, seconds, seconds);
		};
		const lookAt = (at: number) => {
			now = at;
			reader.look(at);
			return [reader.busyUntil, reader.busyAt(at)?.what];
		};
		writeFileSync(steps, "1".padStart(20));
		expect(lookAt(1_000)).toEqual([Number.NEGATIVE_INFINITY, undefined]);
		tell(1_500, "saves a checkpoint");
		expect(lookAt(2_000)).toEqual([61_500, "saves a checkpoint"]);
		// K10: somebody sets the wall clock meanwhile.
		for (const hours of [2, -2]) {
			setBy = hours * 3_600_000;
			expect(lookAt(3_000)).toEqual([61_500, "saves a checkpoint"]);
		}
		writeFileSync(phase, " ".repeat(80));
		expect(lookAt(9_000)).toEqual([9_000, undefined]);
		expect(lookAt(10_000)).toEqual([9_000, undefined]);
		writeFileSync(steps, "2".padStart(20));
		expect(lookAt(11_000)).toEqual([Number.NEGATIVE_INFINITY, undefined]);
		expect(reader.movement?.longestMs).toBe(0);
		expect(said).toEqual([
			["saves a checkpoint", 1_500],
			[undefined, 9_000],
		]);
	});
});
