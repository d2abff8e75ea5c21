import { join } from "node:path";
import { PROJECT } from "../../helpers/node-bundle.js";
import { bundle } from "./bundle.js";
import KNOWN_SEEDS from "./known-seeds.json" with { type: "json" };
import type { Checked, Verdict } from "./mutant.js";
import { runNode } from "./run-node.js";

/** By this many seeds each mutant that a checker catches has long been caught. */
const SEEDS = "1500";

/** The seed that caught a mutant when that was last learned: learn-seeds.ts. It may catch it no more. */
const SEED_OF: ReadonlyMap<string, number> = new Map(
	Object.entries(KNOWN_SEEDS),
);

/** Plays seeds without the guard until its checker turns red; mostly the first one does it. */
export async function tryByChecker(
	mutant: Checked,
	directory: string,
): Promise<Verdict> {
	const player = join(directory, `${mutant.name.replaceAll(" ", "-")}.js`);
	await bundle("test/simulation/play.ts", mutant, player);
	const { code, output } = await runNode(
		[
			...[player, "--first", String(SEED_OF.get(mutant.name) ?? 1)],
			...["--seeds", SEEDS, "--checker", mutant.caughtBy.checker],
		],
		PROJECT,
	);
	return { caught: code === 1, output };
}
