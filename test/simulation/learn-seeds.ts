// Writes down by which seed each mutant is caught, so that the tests find it at once:
//   npx tsx test/simulation/learn-seeds.ts
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { MUTANTS } from "./mutants/index.js";
import { Workspace } from "./workspace.js";

const RED = /^seed (\d+) is red/m;

const workspace = new Workspace(process.cwd());
const seeds: [name: string, seed: number][] = [];
try {
	for (const mutant of MUTANTS.filter(
		({ caughtBy }) => "checker" in caughtBy,
	)) {
		const { output } = await workspace.try(mutant);
		const seed = Number(RED.exec(output)?.[1]);
		console.log(`${seed} ${mutant.name}`);
		if (seed > 0) seeds.push([mutant.name, seed]);
	}
} finally {
	workspace.remove();
}
writeFileSync(
	join(import.meta.dirname, "mutants/known-seeds.json"),
	`${JSON.stringify(Object.fromEntries(seeds.sort()), null, "\t")}\n`,
);
