import { execFile } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { FIGURES } from "../../bench/figures.js";
import { canImportTorch } from "../../bench/launchers.js";
import { readIfThere } from "../../bench/marks.js";
import { familyOf } from "../../bench/processes.js";
import { ScaleRun } from "../../bench/scale/scale-run.js";
import { findEtcd } from "../../scripts/find-etcd.js";

const LONGEST_MS = 600_000;
/** Most of the time a figure waits for something. */
const AT_A_TIME = 3;
const NAMES = FIGURES.map(({ name }) => name);

interface Told {
	readonly skipped: readonly string[];
	readonly failed: readonly { name: string; error: string }[];
	readonly figures: readonly {
		name: string;
		results: readonly { samples: readonly number[] }[];
	}[];
}

/** What a program of the bench prints, also if it fails. */
function bench(program: string, ...args: readonly string[]): Promise<string> {
	const path = fileURLToPath(
		new URL(`../../bench/${program}`, import.meta.url),
	);
	return new Promise((resolve) => {
		execFile(
			process.execPath,
			[path, ...args],
			{ timeout: LONGEST_MS, maxBuffer: 2 ** 24 },
			(_, stdout, stderr) => resolve(stdout || stderr),
		);
	});
}

describe("a smoke run of the bench", () => {
	let told: readonly Told[];

	beforeAll(async () => {
		const shares = Array.from({ length: AT_A_TIME }, (_, share) =>
			NAMES.filter((_name, index) => index % AT_A_TIME === share),
		);
		const said = await Promise.all(
			shares.map((names) =>
				bench("run.js", "--smoke", "--output", "json", ...names),
			),
		);
		told = said.map((text) => JSON.parse(text));
	}, LONGEST_MS);

	it.for(NAMES)("prints numbers of %s", (name, context) => {
		const why = told
			.flatMap(({ skipped }) => skipped)
			.find((line) => line.split(":", 1)[0]?.split(", ").includes(name));
		if (why !== undefined) context.skip(why);
		const failed = told.flatMap((one) => one.failed);
		expect(failed.filter((one) => one.name === name)).toEqual([]);
		const figure = told
			.flatMap(({ figures }) => figures)
			.find((one) => one.name === name);
		const samples = figure?.results.map((result) => result.samples) ?? [];
		expect(samples.length).toBeGreaterThan(0);
		for (const one of samples) {
			expect(one.length).toBeGreaterThan(0);
			expect(one.filter((number) => !Number.isFinite(number))).toEqual([]);
		}
	});
});

describe("the benches of warm restarts", () => {
	const twoWorkers = ["--workers", "2", "--restarts", "1"];
	const withTorch = (about: string, program: string, args: string[]) =>
		it(about, { timeout: LONGEST_MS }, async (context) => {
			if (!canImportTorch()) context.skip("PYTHON cannot import torch");
			const lines = (await bench(program, ...args)).split("\n");
			const launchers = args.at(-1)?.split(",") ?? [];
			for (const launcher of launchers) {
				const row = new RegExp(`^${launcher} +median \\d+ ms,`);
				expect(lines).toContainEqual(expect.stringMatching(row));
			}
		});

	it("print numbers of a Node trainer", { timeout: LONGEST_MS }, async () => {
		const said = await bench("warm.js", "--trainer", "node", ...twoWorkers);
		expect(said).toMatch(/^warm +median \d+ ms,.*\ncold +median \d+ ms,/);
	});
	withTorch("print a number of torchrun on one node", "warm.js", [
		...[...twoWorkers, "--launchers", "torchrun"],
	]);
	withTorch("print a number of two nodes", "warm-nodes.js", [
		...["--workers", "1", "--restarts", "1", "--launchers", "cold"],
	]);
});

it("says at once that the agents of a large job have died", async (context) => {
	if (findEtcd() === undefined) context.skip("there is no etcd");
	const scratch = mkdtempSync(join(tmpdir(), "bench-scale-"));
	const run = new ScaleRun(2);
	onTestFinished(async () => {
		await run.close();
		rmSync(scratch, { recursive: true, force: true });
	});
	await run.open(scratch);
	const agents = familyOf(process.pid).filter((pid: number) =>
		readIfThere(`/proc/${pid}/cmdline`).includes(`${scratch}/agents-`),
	);
	expect(agents).toHaveLength(2);
	for (const pid of agents) process.kill(pid, "SIGKILL");
	await expect(run.restart()).rejects.toThrow(
		"a process of agents ended with SIGKILL",
	);
});
