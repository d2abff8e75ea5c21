import type { RestartLimit } from "../model/index.js";
import {
	type BudgetRecord,
	comesBackAt,
	mainLimit,
	NOTHING,
	nodeLimit,
	type RoundRecord,
	type RunSpec,
	type RunView,
	roleLimit,
	runTimeBy,
	type Spending,
	spentOnNode,
	UNUSED,
	usedOf,
} from "../rendezvous/index.js";
import type { NodeStatus, RestartBudget } from "./run-document.js";
import { budgetOwner } from "./words.js";

/** The budget of each role that has one, by name; undefined if none has. */
export function roleBudgets(
	round: Pick<RoundRecord, "roles" | "terms">,
	wallTime: number,
): Readonly<Record<string, RestartBudget>> | undefined {
	const { roles = {}, terms = {} } = round;
	const budgets = Object.keys(terms).flatMap((name) => {
		const limit = roleLimit(round, name);
		const spent = Object.hasOwn(roles, name) ? roles[name] : undefined;
		return limit === undefined
			? []
			: [[name, budgetOf(limit, spent ?? NOTHING, wallTime)] as const];
	});
	return budgets.length === 0 ? undefined : Object.fromEntries(budgets);
}

/** @param wallTime milliseconds since 1970 */
export function budgetOf(
	limit: RestartLimit,
	spending: Spending,
	wallTime: number,
): RestartBudget {
	const { restarts: allowed, windowMs } = limit;
	const used = usedOf(spending, limit, wallTime);
	const left = Math.max(0, allowed - used);
	return windowMs === 0
		? { allowed, used, left }
		: {
				...{ allowed, used, left },
				windowSeconds: windowMs / 1_000,
				nextBackAt: comesBackAt(spending, limit, wallTime),
			};
}

/** Of all budgets of a node and its workers, the one with the least left. */
export function nodeBudget(
	view: RunView,
	nodeId: string,
	spec: RunSpec | undefined,
	wallTime: number,
): NodeStatus["restarts"] {
	if (spec === undefined) return null;
	const record = view.budgets.get(nodeId) ?? UNUSED;
	const { lived, round } = view;
	const runTime = runTimeBy(lived, round.instance, wallTime);
	const { main, own } = budgetsOn(record, spec, runTime);
	return leastOf([...main, ...own]);
}

/** As `nodeBudget`; null as well if failures of this run are charged to no node and no worker. */
export function ownBudget(
	record: BudgetRecord | undefined,
	spec: RunSpec,
	wallTime: number,
): NodeStatus["restarts"] {
	const { main, own } = budgetsOn(record ?? UNUSED, spec, wallTime);
	const isOwner = budgetOwner(spec.policy) !== undefined;
	// A policy of the user's own may charge a node: only what it has charged shows that.
	const charged = main.filter(({ used }) => isOwner || used > 0);
	return leastOf([...charged, ...own]);
}

/** What `--max-restarts` allows this node and each of its workers, and what `--max-node-restarts` allows it. */
function budgetsOn(record: BudgetRecord, spec: RunSpec, wallTime: number) {
	const { node, workers } = spentOnNode(record);
	const main = [node, ...workers.values()].map((spent) =>
		budgetOf(mainLimit(spec), spent, wallTime),
	);
	const limit = nodeLimit(spec);
	const failures = record.failures ?? NOTHING;
	return { main, own: limit ? [budgetOf(limit, failures, wallTime)] : [] };
}

function leastOf(budgets: readonly RestartBudget[]): RestartBudget | null {
	const [least] = [...budgets].sort(
		(one, other) => one.left - other.left || other.used - one.used,
	);
	return least ?? null;
}
