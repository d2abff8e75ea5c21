import { AGENT_FAULTS } from "./agent-faults.js";
import { AMBUSHES } from "./ambushes.js";
import type { Fault } from "./faulty-run.js";
import { STORE_FAULTS } from "./store-faults.js";

/** Every kind of fault. */
export const FAULTS: readonly Fault[] = Object.values({
	...AGENT_FAULTS,
	...AMBUSHES,
	...STORE_FAULTS,
});
