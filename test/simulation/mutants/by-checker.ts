import { join } from "node:path";
import { PROJECT } from "../../helpers/node-bundle.js";
import { bundle } from "./bundle.js";
import type { Checked, Verdict } from "./index.js";
import { runNode } from "./run-node.js";

/**
 * Few, from the one on that mutants.txt names: a mutant that more seeds would catch only sometimes in time is red here each
 * time. `npm run test:sim` without the guard finds a seed to write down.
 */
const SEEDS = "300";

/** Plays seeds without the guard until its checker turns red; mostly the named one does it. */
export async function tryByChecker(
	mutant: Checked,
	directory: string,
): Promise<Verdict> {
	const player = join(directory, `${mutant.name.replaceAll(" ", "-")}.js`);
	await bundle("test/simulation/play.ts", mutant, player);
	const { checker, seed = 1, links } = mutant.caughtBy;
	const { code, output } = await runNode(
		[
			...[player, "--first", String(seed)],
			...["--seeds", SEEDS, "--checker", checker],
			...(links ? ["--links"] : []),
		],
		PROJECT,
	);
	return { caught: code === 1, output };
}
