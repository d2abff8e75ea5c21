import { formatDuration } from "../../base/units.js";
import type { RestartBudget } from "./run-status.js";

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
