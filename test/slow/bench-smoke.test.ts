import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { FIGURES } from "../../bench/figures.js";

const LONGEST_MS = 600_000;
/** Most of the time a figure waits for something. */
const AT_A_TIME = 2;
/** Of figures that differ in a number alone the first one is enough. */
const NAMES = FIGURES.map(({ name }) => name).filter(
	(name, index, all) =>
		all.findIndex((one) => family(one) === family(name)) === index,
);

function family(name: string): string {
	return name.replace(/-\d+$/, "");
}

interface Told {
	readonly skipped: readonly string[];
	readonly failed: readonly { name: string; error: string }[];
	readonly figures: readonly {
		name: string;
		results: readonly { samples: readonly number[] }[];
	}[];
}

/** What a program of the bench prints, also if it fails. */
function bench(
	program: string,
	args: readonly string[],
	env: NodeJS.ProcessEnv = process.env,
): Promise<string> {
	const path = fileURLToPath(
		new URL(`../../bench/${program}`, import.meta.url),
	);
	return new Promise((resolve) => {
		execFile(
			process.execPath,
			[path, ...args],
			{ timeout: LONGEST_MS, maxBuffer: 2 ** 24, env },
			(_, stdout, stderr) => resolve(stdout || stderr),
		);
	});
}

async function smoke(names: readonly string[]): Promise<Told> {
	const args = ["--smoke", "--output", "json", ...names];
	return JSON.parse(await bench("run.js", args));
}

/** Without torch, whose start alone takes seconds. */
const withoutTorch = (...args: readonly string[]) =>
	bench("run.js", args, { ...process.env, PYTHON: "no-such-python" });

describe("a smoke run of the bench", () => {
	let told: readonly Told[];

	beforeAll(async () => {
		const shares = Array.from({ length: AT_A_TIME }, (_, share) =>
			NAMES.filter((_name, index) => index % AT_A_TIME === share),
		);
		const beside = await Promise.all(shares.map(smoke));
		// Leases of 2 s may lapse where all are played at once: what failed is played again, alone.
		const failed = beside.flatMap((one) => one.failed.map(({ name }) => name));
		told = [
			...beside.map((one) => ({ ...one, failed: [] })),
			...(failed.length === 0 ? [] : [await smoke(failed)]),
		];
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

it("the bench prints the machine, who is skipped, and a table", async () => {
	const stdout = await withoutTorch("--quick", "cold-start-4");
	expect(stdout).toMatch(/^machine: .+ cores, .+ GiB, Linux .+, load /m);
	expect(stdout).toMatch(/^versions: node .+, elastic-run \d/m);
	expect(stdout).toContain("torchrun: no-such-python cannot import torch");
	const [head, , own, byHand] = stdout
		.split("\n")
		.filter((line) => line.startsWith("|"));
	expect(head).toMatch(
		/^\| figure +\| launcher +\| median +\| min–max +\| n +\| of it +\| goal +\| ratio +\| met +\|$/,
	);
	expect(own).toMatch(
		/^\| cold-start-4 +\| elastic-run +\| +[\d.]+ ms +\| +[\d.]+–[\d.]+ +\| +2 +\| +\| ≤ 2.5 × Node by hand +\| +[\d.]+ × +\| (yes|no) +\|$/,
	);
	expect(byHand).toMatch(/\| Node by hand .*\| [\d.]+ × +\|/);
});

it("the bench refuses a figure that it does not have, and names those that it has", async () => {
	expect(await withoutTorch("cold-fusion")).toContain("restart-64, exit");
});
