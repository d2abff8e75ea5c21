import type { RestartLimit } from "../../model/budget.js";
import { NOTHING } from "../records/budgets.js";
import type { RoundRecord } from "../records/records.js";
import { budgetOf, type RestartBudget } from "./run-status.js";

/** The budget of each role of the run, by name. */
export function roleBudgets(
	{ roles = {}, world }: Pick<RoundRecord, "roles" | "world">,
	limit: RestartLimit,
	wallTime: number,
): Readonly<Record<string, RestartBudget>> {
	const names = Object.keys({ ...world?.roleWorldSizes, ...roles });
	const budgets = names.map((name) => {
		const spent = Object.hasOwn(roles, name) ? roles[name] : undefined;
		return [name, budgetOf(limit, spent ?? NOTHING, wallTime)] as const;
	});
	return Object.fromEntries(budgets);
}
