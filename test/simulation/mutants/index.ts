import { AGENT_MUTANTS } from "./agent.js";
import type { Mutant } from "./mutant.js";
import { PLANNER_MUTANTS } from "./planner.js";
import { READ_MUTANTS } from "./reads.js";
import { SHELL_MUTANTS } from "./shells.js";
import { SOFT_MUTANTS } from "./soft.js";
import { WISH_MUTANTS } from "./wishes.js";

export { isChecked, isTested, type Mutant, type Verdict } from "./mutant.js";

/** Every guard that is taken out in turn. */
export const MUTANTS: readonly Mutant[] = [
	...PLANNER_MUTANTS,
	...SHELL_MUTANTS,
	...READ_MUTANTS,
	...AGENT_MUTANTS,
	...SOFT_MUTANTS,
	...WISH_MUTANTS,
];
