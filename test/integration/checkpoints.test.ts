import { describe, expect, it } from "vitest";
import { freshDirectory, open } from "../fixtures/checkpoint-open.js";
import { startFixture } from "../fixtures/checkpoint-process.js";
import { waitFor } from "../helpers/processes.js";

describe("P5 fencing", () => {
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
});
