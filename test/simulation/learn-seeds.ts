// Writes down by which seed each mutant is caught, so that the tests find it at once:
//   npx tsx test/simulation/learn-seeds.ts
import { mkdtempSync, rmSync } from "node:fs";
import { join } from "node:path";
import { PROJECT } from "../helpers/node-bundle.js";
import { tryByChecker } from "./mutants/by-checker.js";
import { isChecked, MUTANTS, writeSeeds } from "./mutants/index.js";

const RED = /^seed (\d+) is red/m;

const directory = mkdtempSync(join(PROJECT, "node_modules/.mutants-"));
const seeds = new Map<string, number>();
try {
	for (const mutant of MUTANTS.filter(isChecked)) {
		const { output } = await tryByChecker(mutant, directory);
		const seed = Number(RED.exec(output)?.[1]);
		console.log(`${seed} ${mutant.name}`);
		if (seed > 0) seeds.set(mutant.name, seed);
	}
} finally {
	rmSync(directory, { recursive: true });
}
writeSeeds(seeds);
