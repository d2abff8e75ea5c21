import {
	limitInWords,
	mainLimit,
	NOTHING,
	roleLimit,
	spentByRun,
	UNUSED,
	usedOf,
	withCharge,
} from "../records/budgets.js";
import { describeFailure } from "../records/failure.js";
import type {
	BudgetRecord,
	NodeFailure,
	Outcome,
	RoundRecord,
} from "../records/records.js";
import type { RunView } from "../records/run-view.js";
import { countOnNode, spend } from "./node-budget.js";
import type { PlannerConfig } from "./plan.js";

/** The changes by an incident, and its cost. */
export interface Charged {
	readonly round: RoundRecord;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
}

/**
 * Charges a failure to the budget that the policy names, and to those of its node and role. If the node is to be replaced for
 * it, nobody else pays. Where nobody is known to be at fault, only the run pays.
 * @param wallTime milliseconds since 1970
 */
export function pay(
	view: RunView,
	round: RoundRecord,
	root: NodeFailure,
	config: PlannerConfig,
	wallTime: number,
): Charged {
	const { charge, failure } = root;
	if (charge === "nothing") return { round, budgets: new Map() };
	if (failure.isUnattributed) {
		return { round: spendOfRun(round, config, wallTime), budgets: new Map() };
	}
	const { nodeId, role } = failure;
	const before = view.budgets.get(nodeId) ?? UNUSED;
	const counted = countOnNode(nodeId, before, config, wallTime);
	if (counted.barred !== undefined) {
		return { round, budgets: new Map([[nodeId, counted]]) };
	}
	const budget =
		charge === "run" ? counted : spend(counted, root, config, wallTime);
	return {
		round: withRole(
			charge === "run" ? spendOfRun(round, config, wallTime) : round,
			role,
			config,
			wallTime,
		),
		budgets: budget === before ? new Map() : new Map([[nodeId, budget]]),
	};
}

function spendOfRun(
	round: RoundRecord,
	config: PlannerConfig,
	wallTime: number,
): RoundRecord {
	const limit = mainLimit(config);
	const { count, at } = withCharge(spentByRun(round), limit, wallTime);
	return { ...round, charged: count, ...(at.length > 0 && { chargedAt: at }) };
}

function withRole(
	round: RoundRecord,
	role: string,
	config: PlannerConfig,
	wallTime: number,
): RoundRecord {
	const limit = roleLimit(config);
	if (limit === undefined) return round;
	// A role may be called "constructor", a property of every plain object.
	const roles = new Map(Object.entries(round.roles ?? {}));
	roles.set(role, withCharge(roles.get(role) ?? NOTHING, limit, wallTime));
	return { ...round, roles: Object.fromEntries(roles) };
}

/** How the run ends because of these failures or a spent budget; null if it continues. */
export function outcomeOf(
	round: RoundRecord,
	fresh: readonly NodeFailure[],
	config: PlannerConfig,
	wallTime: number,
): Outcome | null {
	const fatal = fresh.find(({ failsRun }) => failsRun !== null);
	if (fatal !== undefined) {
		return {
			result: "failed",
			exitCode: fatal.failsRun ?? 1,
			reason: `${describeFailure(fatal.failure)}, which ends the run`,
			root: round.cause.root ?? fatal.failure,
		};
	}
	const limit = mainLimit(config);
	const words = `the budget of ${limitInWords(limit)}`;
	if (usedOf(spentByRun(round), limit, wallTime) > limit.restarts) {
		return spent(round, `${words} is spent`);
	}
	const ofRole = roleLimit(config);
	const role = Object.entries(round.roles ?? {}).find(
		([, charges]) =>
			ofRole && usedOf(charges, ofRole, wallTime) > ofRole.restarts,
	);
	return role && ofRole
		? spent(
				round,
				`the budget of ${limitInWords(ofRole)} of the role ${role[0]} is spent`,
			)
		: null;
}

/** How the run ends because a budget is spent. */
export function spent(
	{ cause: { reason, root } }: RoundRecord,
	words: string,
): Outcome {
	return {
		result: "failed",
		exitCode: 1,
		reason: `${reason}; ${words}`,
		root,
	};
}
