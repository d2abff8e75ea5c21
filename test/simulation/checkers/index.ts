import type { Checker } from "../history.js";
import { barrier } from "./barrier.js";
import { budget } from "./budget.js";
import { claims } from "./claims.js";
import { convergence } from "./convergence.js";
import { fencing } from "./fencing.js";
import { fewRounds } from "./few-rounds.js";
import { leaving } from "./leaving.js";
import { members } from "./members.js";
import { nodeIdentity } from "./node-identity.js";
import { oneCoordinator } from "./one-coordinator.js";
import { oneRoundAProcess } from "./one-round-a-process.js";
import { orphans } from "./orphans.js";
import { outcomes } from "./outcomes.js";
import { patience } from "./patience.js";
import { remnants } from "./remnants.js";
import { roundsRise } from "./rounds-rise.js";
import { samePlan } from "./same-plan.js";
import { settle } from "./settle.js";
import { success } from "./success.js";

/** Every invariant, one file each. Those of hard alone stand at the end; soft's come after them. */
export const CHECKERS: readonly Checker[] = [
	samePlan,
	roundsRise,
	members,
	barrier,
	leaving,
	fencing,
	budget,
	fewRounds,
	outcomes,
	success,
	oneCoordinator,
	orphans,
	claims,
	settle,
	nodeIdentity,
	patience,
	remnants,
	convergence,
	oneRoundAProcess,
];
