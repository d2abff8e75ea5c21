import type { RestartLimit } from "../../model/budget.js";
import type { Spending } from "../records/records.js";

/**
 * What counts of a budget's charges. Times are the coordinator's, in milliseconds since 1970; one that is later than now comes
 * from a coordinator whose clock was ahead, and counts.
 */
export function usedOf(
	{ count, at }: Spending,
	{ windowMs }: Pick<RestartLimit, "windowMs">,
	wallTime: number,
): number {
	if (windowMs === 0) return count;
	return at.filter((time) => time > wallTime - windowMs).length;
}

/** The budget's charges and one more. Times are kept only where they count. */
export function withCharge(
	{ count, at }: Spending,
	{ restarts, windowMs }: RestartLimit,
	wallTime: number,
): Spending {
	const kept = windowMs === 0 ? [] : [...at, wallTime].slice(-(restarts + 1));
	return { count: count + 1, at: kept };
}

/** When the next restart comes back; null if none does. */
export function comesBackAt(
	{ at }: Spending,
	{ windowMs }: RestartLimit,
	wallTime: number,
): number | null {
	const counting = at.filter((time) => time > wallTime - windowMs);
	return windowMs === 0 || counting.length === 0
		? null
		: Math.min(...counting) + windowMs;
}

/** "3 restarts", "3 restarts in 6h". */
export function limitInWords({ restarts, windowMs }: RestartLimit): string {
	const words = `${restarts} restarts`;
	return windowMs === 0 ? words : `${words} in ${windowInWords(windowMs)}`;
}

/** "6h", "90m", "45s". */
export function windowInWords(windowMs: number): string {
	const units = [
		["h", 3_600_000],
		["m", 60_000],
		["s", 1_000],
	] as const;
	const [unit, ms] = units.find(([, size]) => windowMs % size === 0) ?? [
		"ms",
		1,
	];
	return `${windowMs / ms}${unit}`;
}
