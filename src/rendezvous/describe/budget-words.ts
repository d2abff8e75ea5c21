import { formatDuration } from "../../base/units.js";
import type { NodeStatus, RestartBudget } from "./run-status.js";

/** Whose budget a built-in policy charges, if it is not the run's. */
const OWNERS: Readonly<Record<string, string>> = {
	soft: "node",
	"soft-replace": "worker",
};

/** "node" or "worker"; undefined: the run. */
export function budgetOwner(policy: string | null): string | undefined {
	return policy !== null && Object.hasOwn(OWNERS, policy)
		? OWNERS[policy]
		: undefined;
}

/** "3 restarts for each node, 1 used of the run's own": a run pays where no node is known to be at fault. */
export function forEachOwner(
	{ used }: Pick<RestartBudget, "used">,
	allowed: string,
	owner: string,
): string {
	const own = used === 0 ? "" : `, ${used} used of the run's own`;
	return `${allowed} for each ${owner}${own}`;
}

/** " in 6 h 0 min"; empty without a window. */
export function windowOf({
	windowSeconds,
}: Pick<RestartBudget, "windowSeconds">): string {
	return windowSeconds === undefined
		? ""
		: ` in ${formatDuration(windowSeconds * 1_000)}`;
}

/** " (the next one comes back in 5 h 12 min)"; empty if none does. */
export function backWords(
	{ nextBackAt = null }: Pick<RestartBudget, "nextBackAt">,
	wallTime: number,
): string {
	if (nextBackAt === null) return "";
	const ms = Math.max(0, nextBackAt - wallTime);
	return ` (the next one comes back in ${formatDuration(ms)})`;
}

/** "2", or "2 (the next one comes back in 5 h 12 min)"; undefined if it is not known. */
export function leftOfNode(
	{ restarts }: Pick<NodeStatus, "restarts">,
	wallTime: number,
): string | undefined {
	return restarts === null
		? undefined
		: `${restarts.left}${backWords(restarts, wallTime)}`;
}

/** "role trainer: 4 of 5 in 6 h 0 min left (the next one comes back in 5 h 12 min)", for each role. */
export function leftOfRoles(
	roles: Readonly<Record<string, RestartBudget>>,
	wallTime: number,
): readonly string[] {
	return Object.entries(roles).map(
		([role, own]) =>
			`role ${role}: ${own.left} of ${own.allowed}${windowOf(own)} left${backWords(own, wallTime)}`,
	);
}
