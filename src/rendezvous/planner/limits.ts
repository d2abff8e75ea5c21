import type { RestartLimit } from "../../model/budget.js";
import type { PlannerConfig } from "./plan.js";

type Limits = Pick<
	PlannerConfig,
	| "maxRestarts"
	| "restartWindowMs"
	| "maxNodeRestarts"
	| "nodeWindowMs"
	| "maxRoleRestarts"
	| "roleWindowMs"
>;

/** `--max-restarts`: of the run, a node or a worker, as the policy charges. */
export function mainLimit({
	maxRestarts,
	restartWindowMs = 0,
}: Limits): RestartLimit {
	return { restarts: maxRestarts, windowMs: restartWindowMs };
}

/** `--max-node-restarts`; undefined: none. */
export function nodeLimit({
	maxNodeRestarts,
	nodeWindowMs = 0,
}: Limits): RestartLimit | undefined {
	return maxNodeRestarts === undefined
		? undefined
		: { restarts: maxNodeRestarts, windowMs: nodeWindowMs };
}

/** `--max-role-restarts`; undefined: none. */
export function roleLimit({
	maxRoleRestarts,
	roleWindowMs = 0,
}: Limits): RestartLimit | undefined {
	return maxRoleRestarts === undefined
		? undefined
		: { restarts: maxRoleRestarts, windowMs: roleWindowMs };
}
