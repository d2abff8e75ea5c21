import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import type { SaveStep } from "../../src/checkpoint/files.js";
import { freshDirectory, open, stateAt } from "../fixtures/checkpoint-open.js";
import { startFixture } from "../fixtures/checkpoint-process.js";
import type { TrainerOptions } from "../fixtures/checkpoint-trainer.js";

const SECONDS = 1_000;

async function train(options: TrainerOptions) {
	const trainer = startFixture("checkpoint-trainer.ts", options);
	const end = await trainer.ended;
	return { end, stdout: trainer.stdout(), stderr: trainer.stderr() };
}

it.each<[SaveStep, number]>([
	["started", 3],
	["temporary file open", 3],
	["part written", 3],
	["written", 3],
	["synced", 3],
	["renamed", 4],
	["directory synced", 4],
	["pruning", 4],
	["pruned", 4],
])("P5 killed in the save of step 4 at '%s': step %d loads", async (killAtSaveStep, survives) => {
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

it("P8 on a disk of memory, one warning says that checkpoints are lost with the machine", (context) => {
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

it("on a full disk a save fails by name and the old one loads", (context) => {
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
