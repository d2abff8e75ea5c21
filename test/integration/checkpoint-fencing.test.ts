import { copyFileSync, readdirSync, truncateSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { openCheckpoints } from "../../src/runtime/checkpoint.js";
import { checkpointFileName } from "../../src/runtime/checkpoint-order.js";
import {
	freshDirectory,
	open,
	openInside,
	stateAt,
} from "../fixtures/checkpoint-open.js";
import { startFixture } from "../fixtures/checkpoint-process.js";
import { waitFor } from "../helpers/processes.js";

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

	it("loads again where a save came in between the load and the claim", () => {
		const directory = freshDirectory();
		const older = open(directory, 1).checkpoints;
		older.save(stateAt(40));
		truncateSync(older.save(stateAt(50)).path, 10);
		const newer = openInside(directory, 2, {
			// Of the damaged one, that is after the listing.
			warn: () => older.save(stateAt(60)),
		});
		expect(newer.loadLatest()?.step).toBe(60);
		expect(() => older.save(stateAt(70))).toThrow(/newer round/);
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
