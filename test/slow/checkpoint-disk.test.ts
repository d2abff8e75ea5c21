import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { expect, it, onTestFinished } from "vitest";
import { freshDirectory, open, stateAt } from "../fixtures/checkpoint-open.js";

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
