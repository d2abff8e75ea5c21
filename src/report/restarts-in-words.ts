import { formatDuration, formatInstant } from "../base/units.js";
import { plainMessage } from "../logs/plain-text.js";
import type { RestartBudget } from "../rendezvous/describe/run-status.js";
import type { RestartsUsed } from "./run-report.js";

/**
 * "4 used, 1 of 3 in 6 h 0 min left (the next one comes back at 2026-11-26 12:00:00 UTC); this node: 1 of 2 left; role
 * reader: 4 of 5 left".
 */
export function restartsInWords(restarts: RestartsUsed): string {
	const { node, roles = {} } = restarts;
	return [
		runBudget(restarts),
		...(node ? [leftOf("this node", node)] : []),
		...Object.entries(roles).map(([role, budget]) =>
			leftOf(`role ${plainMessage(role)}`, budget),
		),
	].join("; ");
}

function leftOf(
	owner: string,
	{ left, allowed, windowSeconds, nextBackAt }: RestartBudget,
): string {
	const windowMs = windowSeconds && windowSeconds * 1_000;
	return `${owner}: ${left} of ${allowed}${within(windowMs)} left${backAt(nextBackAt)}`;
}

function runBudget(restarts: RestartsUsed): string {
	const { used, allowed, windowMs, left, nextBackAt } = restarts;
	if (left !== undefined) {
		return `${used} used, ${left} of ${allowed}${within(windowMs)} left${backAt(nextBackAt)}`;
	}
	return windowMs !== undefined || used > allowed
		? `${used}; each node, or each worker, has a budget of ${allowed}${within(windowMs)}`
		: `${used} of ${allowed} used`;
}

/** " in 6 h 0 min"; empty without a window. */
function within(windowMs: number | undefined): string {
	return windowMs === undefined ? "" : ` in ${formatDuration(windowMs)}`;
}

/** A report is read later: the time, not how long it takes. */
function backAt(nextBackAt: number | null | undefined): string {
	return nextBackAt == null
		? ""
		: ` (the next one comes back at ${formatInstant(nextBackAt)})`;
}
