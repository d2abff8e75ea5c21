import { readdirSync } from "node:fs";
import { expect, it } from "vitest";
import type { SaveStep } from "../../src/runtime/checkpoint-files.js";
import { freshDirectory, open } from "../fixtures/checkpoint-open.js";
import { startFixture } from "../fixtures/checkpoint-process.js";
import type { TrainerOptions } from "../fixtures/checkpoint-trainer.js";

const SECONDS = 1_000;

async function train(options: TrainerOptions) {
	const trainer = startFixture("checkpoint-trainer.ts", options);
	const end = await trainer.ended;
	return { end, stdout: trainer.stdout(), stderr: trainer.stderr() };
}

it.each<{ killAtSaveStep: SaveStep; survives: number }>([
	{ killAtSaveStep: "started", survives: 3 },
	{ killAtSaveStep: "temporary file open", survives: 3 },
	{ killAtSaveStep: "part written", survives: 3 },
	{ killAtSaveStep: "written", survives: 3 },
	{ killAtSaveStep: "synced", survives: 3 },
	{ killAtSaveStep: "renamed", survives: 4 },
	{ killAtSaveStep: "directory synced", survives: 4 },
	{ killAtSaveStep: "pruning", survives: 4 },
	{ killAtSaveStep: "pruned", survives: 4 },
])("P5 killed in the save of step 4 at '$killAtSaveStep': step $survives loads", async ({
	killAtSaveStep,
	survives,
}) => {
	const directory = freshDirectory();
	const options = { directory, saveEvery: 1, lastStep: 4 };
	const killed = await train({ ...options, round: 1, killAtSaveStep });
	expect(killed.end, killed.stderr).toBe("SIGKILL");

	const { state } = open(directory, 1).checkpoints.loadLatest() ?? {};
	expect(state?.step).toBe(survives);

	const resumed = await train({ ...options, round: 2, lastStep: 6 });
	expect(resumed).toMatchObject({ end: 0, stderr: "" });
	// Nothing of the killed save is left over.
	const files = readdirSync(directory);
	expect(files.filter((name) => name.endsWith(".ckpt"))).toHaveLength(2);
	expect(files.filter((name) => name.endsWith(".tmp"))).toEqual([]);
});

it("P5 killed in the very first save: training begins again", async () => {
	const directory = freshDirectory();
	const options = { directory, saveEvery: 1, lastStep: 1 };
	const killed = await train({
		...options,
		round: 1,
		killAtSaveStep: "synced",
	});
	expect(killed.end, killed.stderr).toBe("SIGKILL");
	expect(open(directory, 2).checkpoints.loadLatest()).toBeUndefined();
});

it(
	"P6 twenty kills at random: the result is that of an undisturbed run, bit for bit",
	async () => {
		const options = { saveEvery: 3, lastStep: 200 };
		const undisturbed = await train({
			...options,
			directory: freshDirectory(),
			round: 1,
		});

		const directory = freshDirectory();
		const seed = Math.floor(Math.random() * 2 ** 32);
		let random = seed;
		for (let round = 1; round <= 20; round += 1) {
			random = (Math.imul(random, 1664525) + 1013904223) >>> 0;
			const killAtEvent = 1 + Math.floor((random / 2 ** 32) * 40);
			const killed = await train({ ...options, directory, round, killAtEvent });
			expect(killed, `seed ${seed}`).toMatchObject({
				end: "SIGKILL",
				stderr: "",
			});
		}
		const finished = await train({ ...options, directory, round: 21 });
		expect(finished, `seed ${seed}`).toEqual(undisturbed);
		expect(JSON.parse(finished.stdout)).toMatchObject({ step: 200 });
	},
	120 * SECONDS,
);
