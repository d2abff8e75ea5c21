import {
	copyFileSync,
	existsSync,
	readdirSync,
	readFileSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import {
	type CheckpointOptions,
	openCheckpoints,
} from "../../../src/checkpoint/index.js";
import { checkpointFileName } from "../../../src/checkpoint/order.js";
import {
	freshDirectory,
	open,
	openInside,
	stateAt,
} from "../../fixtures/checkpoint-open.js";

describe("a directory of checkpoints", () => {
	it("gives back the newest state, whole, with where it came from", () => {
		const directory = freshDirectory();
		const { checkpoints } = open(directory, 1);
		for (const step of [1, 2, 3]) checkpoints.save(stateAt(step));
		const loaded = open(directory, 2).checkpoints.loadLatest();
		expect(loaded).toMatchObject({ instance: 1, round: 1, step: 3 });
		expect(loaded?.state).toEqual(stateAt(3));
		expect(readFileSync(loaded?.path ?? "").length).toBe(loaded?.bytes);
	});

	it("keeps the newest two, or as many as it is told", () => {
		const directory = freshDirectory();
		const { checkpoints } = open(directory, 1, { keep: 3 });
		for (const step of [1, 2, 3, 4, 5]) checkpoints.save(stateAt(step));
		const kept = readdirSync(directory).filter((name) => name.endsWith("ckpt"));
		expect(kept).toHaveLength(3);
	});

	it("refuses a step that would never be loaded", () => {
		const { checkpoints } = open(freshDirectory(), 1);
		checkpoints.save(stateAt(5));
		checkpoints.save(stateAt(5));
		expect(() => checkpoints.save(stateAt(4))).toThrow(
			/Step 4 was not saved: this round has saved step 5 already/,
		);
	});

	it("that cannot be written names itself and the fix", () => {
		const file = join(freshDirectory(), "file");
		writeFileSync(file, "");
		const { checkpoints } = open(join(file, "inside"), 1);
		expect(() => checkpoints.save(stateAt(1))).toThrow(
			/No checkpoint was saved in .*inside.*Make the directory writable/,
		);
	});

	it.each<[string, Partial<CheckpointOptions>]>([
		["directory", { directory: "" }],
		["keep", { keep: 1 }],
		["maxSteps", { maxSteps: 0 }],
		["meanTimeBetweenFailuresMs", { meanTimeBetweenFailuresMs: 0 }],
		["workers", { meanTimeBetweenFailuresMs: 1, workers: 0 }],
		["token.round", { token: { instance: 1, round: -1 } }],
	])("is not opened with a senseless %s", (name, options) => {
		expect(() => open("unused", 1, options)).toThrow(name);
	});
});

describe("P5 a damaged checkpoint", () => {
	const flip = (path: string, offset: number) => {
		const bytes = readFileSync(path);
		bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
		writeFileSync(path, bytes);
	};
	const size = (path: string) => readFileSync(path).length;

	it.each<[string, (path: string) => void]>([
		["one bit of its header", (path) => flip(path, 40)],
		["one bit of its parameters", (path) => flip(path, size(path) - 1_000)],
		["one bit of its checksum", (path) => flip(path, size(path) - 1)],
		[
			"its second half",
			(path) => truncateSync(path, Math.floor(size(path) / 2)),
		],
		["everything", (path) => truncateSync(path, 0)],
	])("that lost %s gives way to the one before, with a warning", (_, damage) => {
		const directory = freshDirectory();
		const writer = open(directory, 1).checkpoints;
		const older = writer.save(stateAt(1));
		const newest = writer.save(stateAt(2));
		damage(newest.path);

		const { checkpoints, warnings } = open(directory, 2);
		expect(checkpoints.loadLatest()?.state).toEqual(stateAt(1));
		expect(warnings).toHaveLength(1);
		expect(warnings[0]).toContain(newest.path);
		expect(warnings[0]).toMatch(/cannot be used: .+Going back to /);

		// It does not count among those that are kept.
		checkpoints.save(stateAt(2));
		expect(existsSync(older.path)).toBe(true);
		expect(existsSync(newest.path)).toBe(false);
	});

	it("without another to go back to is an error, not a fresh start", () => {
		const directory = freshDirectory();
		const saved = open(directory, 1).checkpoints.save(stateAt(1));
		truncateSync(saved.path, 100);
		const { checkpoints } = open(directory, 2);
		expect(() => checkpoints.loadLatest()).toThrow(
			/None of the checkpoints in .* can be used .*move them away/,
		);
	});
});

it("the more often a run was interrupted, the more often it saves", () => {
	const directory = freshDirectory();
	const time = { nowMs: 0 };
	const openRound = (round: number) =>
		openInside(directory, round, {
			clock: {
				now: () => time.nowMs,
				asleep: () => 0,
				wallTime: () => time.nowMs,
				wakeAt: () => () => undefined,
			},
			onStep(saveStep) {
				if (saveStep === "started") time.nowMs += 1_000;
			},
		});
	/** Steps of one second, saves of one second. */
	const interval = (round: number) => {
		const checkpoints = openRound(round);
		const first = (checkpoints.loadLatest()?.step ?? 0) + 1;
		for (let step = first; step <= first + 2; step += 1) {
			time.nowMs += 1_000;
			if (checkpoints.shouldSave(step)) checkpoints.save(stateAt(step));
		}
		return checkpoints.everySteps;
	};

	// An hour is assumed at first: the root of 2 · 3600 s · 1 s.
	expect(interval(1)).toBe(84);
	for (let round = 2; round <= 10; round += 1) openRound(round).loadLatest();
	// Ten interruptions in a few seconds, and the one of the assumed hour.
	expect(interval(11)).toBe(25);
});

describe("what is said when checkpoints are opened", () => {
	/** The steps between two saves, as decided after the first. */
	function stepsBetween(options: Partial<CheckpointOptions>) {
		const { checkpoints } = open(freshDirectory(), 1, {
			meanTimeBetweenFailuresMs: 1e15,
			...options,
		});
		checkpoints.save(stateAt(1));
		checkpoints.shouldSave(1);
		checkpoints.save(stateAt(2));
		checkpoints.shouldSave(3);
		return checkpoints.everySteps ?? Number.NaN;
	}

	// These take no time to speak of, and the mean time is that of an age: without a bound the
	// next save would be millions of steps away.
	it("bounds the steps between two saves by maxSteps", () => {
		expect(stepsBetween({ workers: 1, maxSteps: 3 })).toBe(3);
		const { checkpoints } = open(freshDirectory(), 1, { maxSteps: 4 });
		checkpoints.save(stateAt(1));
		const due = [2, 3, 4, 5].map((step) => checkpoints.shouldSave(step));
		expect(due.at(-1)).toBe(true);
	});

	it("divides the mean time between failures of one worker by the workers", () => {
		const alone = stepsBetween({ workers: 1 });
		expect(alone).toBeGreaterThan(1_000);
		// 95 million times as often, however much one measure differs from the other.
		const crowd = stepsBetween({ workers: Number.MAX_SAFE_INTEGER });
		expect(crowd).toBeLessThan(alone / 1_000);
	});

	it("takes the number of workers from WORLD_SIZE", () => {
		vi.stubEnv("WORLD_SIZE", String(Number.MAX_SAFE_INTEGER));
		onTestFinished(() => void vi.unstubAllEnvs());
		const alone = stepsBetween({ workers: 1 });
		expect(stepsBetween({})).toBeLessThan(alone / 1_000);
	});
});

describe("P5 fencing", () => {
	it("refuses a writer whose round was left, at its next save and load", () => {
		const directory = freshDirectory();
		const stale = open(directory, 1).checkpoints;
		stale.save(stateAt(40));
		open(directory, 2).checkpoints.loadLatest();

		const files = readdirSync(directory);
		expect(() => stale.save(stateAt(50))).toThrow(
			/newer round has taken over .* instance 1, round 2 .* belongs to instance 1, round 1/,
		);
		expect(() => stale.loadLatest()).toThrow(/newer round/);
		expect(readdirSync(directory)).toEqual(files);
	});

	it("sets aside what a stale writer still managed to rename into place", () => {
		const directory = freshDirectory();
		const stale = open(directory, 1).checkpoints;
		const { path } = stale.save(stateAt(40));
		expect(open(directory, 2).checkpoints.loadLatest()?.step).toBe(40);
		const late = checkpointFileName({ instance: 1, round: 1, step: 99 });
		copyFileSync(path, join(directory, late));

		const { checkpoints } = open(directory, 2);
		expect(checkpoints.loadLatest()?.step).toBe(40);
		expect(open(directory, 3).checkpoints.loadLatest()?.step).toBe(40);
	});

	it("refuses a save that a newer round's load overtook, and sets it aside", () => {
		const directory = freshDirectory();
		open(directory, 1).checkpoints.save(stateAt(40));
		const stale = openInside(directory, 1, {
			onStep(saveStep) {
				if (saveStep !== "synced") return;
				expect(open(directory, 2).checkpoints.loadLatest()?.step).toBe(40);
			},
		});
		expect(() => stale.save(stateAt(50))).toThrow(/newer round/);
		expect(open(directory, 2).checkpoints.loadLatest()?.step).toBe(40);
		expect(open(directory, 3).checkpoints.loadLatest()?.step).toBe(40);
	});

	it("refuses a save whose unfinished file a newer round has deleted", () => {
		const directory = freshDirectory();
		const stale = openInside(directory, 1, {
			onStep(saveStep) {
				if (saveStep !== "written") return;
				const newer = open(directory, 2).checkpoints;
				for (const step of [1, 2, 3]) newer.save(stateAt(step));
			},
		});
		expect(() => stale.save(stateAt(50))).toThrow(/newer round/);
		expect(open(directory, 3).checkpoints.loadLatest()).toMatchObject({
			round: 2,
			step: 3,
		});
	});

	it("orders by instance, then round, then step", () => {
		const directory = freshDirectory();
		const openAs = (instance: number, round: number) =>
			openCheckpoints({ directory, token: { instance, round } });
		openAs(1, 9).save(stateAt(900));
		openAs(2, 1).save(stateAt(20));
		expect(openAs(2, 2).loadLatest()).toMatchObject({ instance: 2, step: 20 });
		expect(() => openAs(1, 10).save(stateAt(1_000))).toThrow(/newer round/);
	});

	it("a look without a claim keeps nobody out", () => {
		const directory = freshDirectory();
		const trainer = open(directory, 1).checkpoints;
		trainer.save(stateAt(1));
		const evaluation = open(directory, 2).checkpoints;
		expect(evaluation.loadLatest({ claim: false })?.step).toBe(1);
		trainer.save(stateAt(2));
		expect(evaluation.loadLatest({ claim: false })?.step).toBe(2);
	});

	it("a start by hand goes on from all before it, and outranks them", () => {
		const directory = freshDirectory();
		const future = 9e15;
		const before = openCheckpoints({
			directory,
			token: { instance: future, round: 3 },
		});
		before.save(stateAt(5));
		const byHand = openCheckpoints({ directory });
		expect(byHand.token).toEqual({ instance: future + 1, round: 1 });
		expect(byHand.loadLatest()?.step).toBe(5);
		byHand.save(stateAt(6));
		expect(() => before.save(stateAt(6))).toThrow(/newer round/);
	});
});
