import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { PROJECT } from "../helpers/node-bundle.js";
import { CHECKERS } from "../simulation/checkers/index.js";
import { tryByChecker } from "../simulation/mutants/by-checker.js";
import { tryByTests } from "../simulation/mutants/by-tests.js";
import {
	isChecked,
	isTested,
	MUTANTS,
	type Mutant,
	type Verdict,
} from "../simulation/mutants/index.js";

/** What vitest and a player together may need on a busy machine. */
const LIMIT_MS = 300_000;

describe("each guard that is taken out is missed", () => {
	const checked = MUTANTS.filter(isChecked);
	const tested = MUTANTS.filter(isTested);
	let directory: string;
	let verdicts: ReadonlyMap<Mutant, Verdict>;
	// In node_modules, where what is bundled finds its packages.
	beforeAll(() => {
		directory = mkdtempSync(join(PROJECT, "node_modules/.mutants-"));
	});
	afterAll(() => rmSync(directory, { recursive: true }));

	describe.concurrent("by a checker", { timeout: LIMIT_MS }, () => {
		it.each(
			checked.map((mutant) => [mutant.name, mutant] as const),
		)("%s", async (_, mutant) => {
			const { caught, output } = await tryByChecker(mutant, directory);
			expect(caught, output).toBe(true);
		});
	});

	describe("by a test", () => {
		beforeAll(async () => {
			verdicts = await tryByTests(tested, directory);
		}, LIMIT_MS);
		it.each(
			tested.map((mutant) => [mutant.name, mutant] as const),
		)("%s", (_, mutant) => {
			const verdict = verdicts.get(mutant);
			expect(verdict?.caught, verdict?.output).toBe(true);
		});
	});
});

it("has a mutant for every checker but those that hold by how the simulator is made", () => {
	const used = new Set(
		MUTANTS.flatMap(({ caughtBy }) =>
			"checker" in caughtBy ? [caughtBy.checker] : [],
		),
	);
	const unused = CHECKERS.map(({ name }) => name).filter(
		(name) => !used.has(name),
	);
	expect(unused).toEqual(["one-round-a-process"]);
});
