import type { Checker, History } from "../history.js";
import type { PolicyFamily } from "../sim-policies.js";
import { acknowledgements } from "./acknowledgements.js";
import { alternation } from "./alternation.js";
import { atOnce } from "./at-once.js";
import { barrier } from "./barrier.js";
import { budget } from "./budget.js";
import { claims } from "./claims.js";
import { convergence } from "./convergence.js";
import { fencing } from "./fencing.js";
import { fewRequests } from "./few-requests.js";
import { fewRounds } from "./few-rounds.js";
import { ignored } from "./ignored.js";
import { lastCall } from "./last-call.js";
import { leaving } from "./leaving.js";
import { members } from "./members.js";
import { nodeBudgets } from "./node-budgets.js";
import { nodeIdentity } from "./node-identity.js";
import { oneCoordinator } from "./one-coordinator.js";
import { oneRankZero } from "./one-rank-zero.js";
import { oneRoundAProcess } from "./one-round-a-process.js";
import { oneWorld } from "./one-world.js";
import { orphans } from "./orphans.js";
import { outcomes } from "./outcomes.js";
import { patience } from "./patience.js";
import { recovery } from "./recovery.js";
import { remnants } from "./remnants.js";
import { roundsRise } from "./rounds-rise.js";
import { samePlan } from "./same-plan.js";
import { settle } from "./settle.js";
import { settlement } from "./settlement.js";
import { stayFinished } from "./stay-finished.js";
import { stuck } from "./stuck.js";
import { success } from "./success.js";
import { survivors } from "./survivors.js";
import { tooFew } from "./too-few.js";
import { whyLeft } from "./why-left.js";
import { wiped } from "./wiped.js";

/** The invariants that hold whatever the policy, one file each. */
const ALWAYS: readonly Checker[] = [
	samePlan,
	roundsRise,
	members,
	barrier,
	leaving,
	fencing,
	oneRankZero,
	oneWorld,
	budget,
	nodeBudgets,
	fewRounds,
	whyLeft,
	lastCall,
	tooFew,
	fewRequests,
	outcomes,
	success,
	oneCoordinator,
	orphans,
	stuck,
	claims,
	settle,
	nodeIdentity,
	atOnce,
	patience,
	remnants,
	wiped,
	alternation,
	acknowledgements,
	stayFinished,
	settlement,
	convergence,
	recovery,
	ignored,
];

/** What the policies of a family promise beside that. */
const BY_FAMILY: Readonly<Record<PolicyFamily, readonly Checker[]>> = {
	hard: [oneRoundAProcess],
	soft: [survivors],
};

/** What holds of agents also where their store, set up from an older copy of itself, has forgotten rounds and records. */
const WHATEVER_IS_STORED: readonly Checker[] = [
	fencing,
	orphans,
	stuck,
	remnants,
	alternation,
	fewRequests,
	outcomes,
	convergence,
];

export function checkersFor(
	family: PolicyFamily,
	{ restored }: Pick<History, "restored">,
): readonly Checker[] {
	return restored === undefined
		? [...ALWAYS, ...BY_FAMILY[family]]
		: WHATEVER_IS_STORED;
}

export const CHECKERS: readonly Checker[] = [
	...ALWAYS,
	...Object.values(BY_FAMILY).flat(),
];
