import {
	limitInWords,
	mainLimit,
	NOTHING,
	nodeLimit,
	spentByNode,
	spentByWorker,
	spentOnNode,
	usedOf,
	withCharge,
} from "../records/budgets.js";
import type {
	BudgetRecord,
	NodeFailure,
	Spending,
} from "../records/records.js";
import type { PlannerConfig } from "./plan.js";

/** Counts a failure on its node, whoever pays for it; beyond the node's limit it is kept out. */
export function countOnNode(
	nodeId: string,
	before: BudgetRecord,
	config: PlannerConfig,
	wallTime: number,
): BudgetRecord {
	const limit = nodeLimit(config);
	if (limit === undefined) return before;
	const failures = withCharge(before.failures ?? NOTHING, limit, wallTime);
	const used = usedOf(failures, limit, wallTime);
	const barred =
		used > limit.restarts
			? `${nodeId} has failed more often than its limit of ${limitInWords(limit)} allows (--max-node-restarts)`
			: undefined;
	return { ...before, failures, ...(barred && { barred }) };
}

/** What a node has used up after one more failure that is charged to it, or to one of its workers. */
export function spend(
	before: BudgetRecord,
	{ charge, failure: { localRank } }: NodeFailure,
	config: PlannerConfig,
	wallTime: number,
): BudgetRecord {
	const limit = mainLimit(config);
	if (charge === "node") {
		const { count, at } = withCharge(spentByNode(before), limit, wallTime);
		return {
			...before,
			charged: count,
			...(at.length > 0 && { chargedAt: at }),
		};
	}
	const spent = spentByWorker(before, localRank);
	const { count, at } = withCharge(spent, limit, wallTime);
	return {
		...before,
		workers: { ...before.workers, [localRank]: count },
		...(at.length > 0 && {
			workersAt: { ...before.workersAt, [localRank]: at },
		}),
	};
}

/** Why a node may not take part any more, in words; undefined if it may. */
export function whyBarred(
	nodeId: string,
	budget: BudgetRecord,
	config: PlannerConfig,
	wallTime: number,
): string | undefined {
	if (budget.barred !== undefined) return budget.barred;
	const limit = mainLimit(config);
	const isSpent = (spent: Spending) =>
		usedOf(spent, limit, wallTime) > limit.restarts;
	const words = `has used up its budget of ${limitInWords(limit)}`;
	const { node, workers } = spentOnNode(budget);
	if (isSpent(node)) return `${nodeId} ${words}`;
	const worker = [...workers].find(([, spent]) => isSpent(spent));
	return worker && `local rank ${worker[0]} of ${nodeId} ${words}`;
}
