import { execFileSync } from "node:child_process";
import {
	copyFileSync,
	existsSync,
	mkdtempSync,
	readdirSync,
	readFileSync,
	rmSync,
	truncateSync,
	writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import {
	type CheckpointOptions,
	openCheckpoints,
} from "../../src/runtime/checkpoint.js";
import {
	type CheckpointPosition,
	checkpointFileName,
} from "../../src/runtime/checkpoint-order.js";
import { startFixture } from "../fixtures/checkpoint-process.js";
import { temporaryFolder, waitFor } from "../helpers/processes.js";

function freshDirectory(): string {
	const { path, remove } = temporaryFolder();
	onTestFinished(remove);
	return path;
}

/** A worker's checkpoints in a round of instance 1, and the warnings that it got. */
function open(
	directory: string,
	round: number,
	options: Partial<CheckpointOptions> = {},
) {
	const warnings: string[] = [];
	const checkpoints = openCheckpoints({
		directory,
		token: { instance: 1, round },
		onWarning: (message) => warnings.push(message),
		...options,
	});
	return { checkpoints, warnings };
}

const stateAt = (step: number) => ({
	step,
	epoch: 0,
	generator: { seed: 7n },
	dataPosition: step * 128,
	parameters: { weights: new Float32Array(1_000).fill(step) },
});

const fileAt = (directory: string, position: CheckpointPosition) =>
	join(directory, checkpointFileName(position));

describe("a directory of checkpoints", () => {
	it("begins empty and is made by the first save", () => {
		const directory = join(freshDirectory(), "not", "yet");
		const { checkpoints } = open(directory, 1);
		expect(checkpoints.loadLatest({ claim: false })).toBeUndefined();
		expect(existsSync(directory)).toBe(false);
		expect(checkpoints.save(stateAt(0))).toMatchObject({ step: 0, round: 1 });
		expect(existsSync(directory)).toBe(true);
	});

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

	it("leaves files of others alone", () => {
		const directory = freshDirectory();
		writeFileSync(join(directory, "notes.txt"), "mine");
		const { checkpoints } = open(directory, 1);
		for (const step of [1, 2, 3]) checkpoints.save(stateAt(step));
		expect(readFileSync(join(directory, "notes.txt"), "utf8")).toBe("mine");
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

describe("a damaged checkpoint", () => {
	const flip = (path: string, offset: number) => {
		const bytes = readFileSync(path);
		bytes.writeUInt8(bytes.readUInt8(offset) ^ 1, offset);
		writeFileSync(path, bytes);
	};
	const size = (path: string) => readFileSync(path).length;

	it.each<[string, (path: string) => void]>([
		["one bit of its beginning", (path) => flip(path, 0)],
		["one bit of its header's length", (path) => flip(path, 8)],
		["one bit of its header", (path) => flip(path, 40)],
		["one bit of its parameters", (path) => flip(path, size(path) - 1_000)],
		["one bit of its checksum", (path) => flip(path, size(path) - 1)],
		["its end", (path) => truncateSync(path, size(path) - 1)],
		["its second half", (path) => truncateSync(path, size(path) / 2)],
		["everything", (path) => truncateSync(path, 0)],
	])(
		"that lost %s gives way to the one before, with a warning",
		(_, damage) => {
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
		},
	);

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

describe("fencing", () => {
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
		const late = fileAt(directory, { instance: 1, round: 1, step: 99 });
		copyFileSync(path, late);

		const { checkpoints } = open(directory, 2);
		expect(checkpoints.loadLatest()?.step).toBe(40);
		expect(open(directory, 3).checkpoints.loadLatest()?.step).toBe(40);
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

	it("two processes at once: the older round is refused and shadows nothing", async () => {
		const directory = freshDirectory();
		const stale = startFixture("checkpoint-writer.ts", {
			directory,
			round: 1,
			firstStep: 1_000,
			lastStep: 100_000,
		});
		await waitFor("the older round's first save", () =>
			stale.stdout().includes("saved"),
		);
		const current = startFixture("checkpoint-writer.ts", {
			directory,
			round: 2,
			firstStep: 1,
			lastStep: 20,
		});
		expect(await current.ended, current.stderr()).toBe(0);
		expect(current.stdout()).toContain("done");
		expect(await stale.ended, stale.stderr()).toBe(0);
		expect(stale.stdout()).toMatch(/refused: A newer round has taken over/);

		const loaded = open(directory, 3).checkpoints.loadLatest();
		expect(loaded).toMatchObject({ round: 2, step: 20 });
		expect(loaded?.state.generator).toBe(2);
	});

	it("two processes of one token at once: what is there is whole", async () => {
		const directory = freshDirectory();
		const options = { directory, round: 1, firstStep: 1, lastStep: 30 };
		const writers = [1, 2].map(() =>
			startFixture("checkpoint-writer.ts", options),
		);
		for (const writer of writers) {
			expect(await writer.ended, writer.stderr()).toBe(0);
		}
		const { checkpoints, warnings } = open(directory, 2);
		expect(checkpoints.loadLatest()?.step).toBe(30);
		expect(warnings).toEqual([]);
	});
});

describe("on a disk of memory", () => {
	it("one warning says that checkpoints are lost with the machine", (context) => {
		if (!existsSync("/dev/shm")) context.skip("there is no /dev/shm");
		const directory = mkdtempSync("/dev/shm/elastic-run-test-");
		onTestFinished(() => rmSync(directory, { recursive: true }));
		const { checkpoints, warnings } = open(directory, 1);
		checkpoints.save(stateAt(1));
		checkpoints.save(stateAt(2));
		expect(warnings).toHaveLength(1);
		expect(warnings[0]).toContain(directory);
		expect(warnings[0]).toContain("memory (tmpfs)");
	});

	it("that is full, a save fails by name and the old one loads", (context) => {
		const directory = freshDirectory();
		try {
			const flags = ["-t", "tmpfs", "-o", "size=256k", "tmpfs"];
			execFileSync("mount", [...flags, directory], { stdio: "ignore" });
		} catch {
			context.skip("a small file system cannot be mounted here");
		}
		onTestFinished(() => {
			execFileSync("umount", [directory]);
		});
		const { checkpoints } = open(directory, 1);
		checkpoints.save(stateAt(1));
		const tooLarge = {
			...stateAt(2),
			parameters: { weights: new Float64Array(100_000) },
		};
		expect(() => checkpoints.save(tooLarge)).toThrow(
			/No checkpoint was saved in .*ENOSPC.*The disk is full.*untouched/,
		);
		expect(readdirSync(directory).filter((n) => n.endsWith("tmp"))).toEqual([]);
		expect(open(directory, 2).checkpoints.loadLatest()?.step).toBe(1);
		open(directory, 3).checkpoints.save(stateAt(3));
	});
});
