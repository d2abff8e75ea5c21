import {
	addSpent,
	type Category,
	NOTHING_SPENT,
	type Spent,
} from "./categories.js";

/** A claim on the time between two moments, in milliseconds since 1970. */
export interface Claim {
	readonly category: Category;
	readonly from: number;
	readonly to: number;
}

/**
 * Divides the time from `from` to `to`: each moment goes to the first claim that covers it, and to `unknown` if none
 * does. So the parts always add up to the whole, whatever the claims are.
 */
export function divideTime(
	from: number,
	to: number,
	claims: readonly Claim[],
): Spent {
	const near = claims.filter((claim) => claim.from < to && claim.to > from);
	const cuts = near
		.flatMap((claim) => [claim.from, claim.to])
		.filter((at) => at > from && at < to);
	const bounds = [...new Set([from, ...cuts, to])].sort((a, b) => a - b);
	let spent = NOTHING_SPENT;
	for (const [index, begin] of bounds.entries()) {
		const end = bounds[index + 1];
		if (end === undefined) break;
		const first = near.find((claim) => claim.from <= begin && claim.to >= end);
		spent = addSpent(spent, { [first?.category ?? "unknown"]: end - begin });
	}
	return spent;
}

/** The part of a budget of time that each claim gets, in this order, as long as there is any left. */
export function allot(
	total: number,
	wanted: readonly (readonly [category: Category, ms: number])[],
): { readonly spent: Spent; readonly rest: number } {
	let rest = Math.max(0, total);
	let spent = NOTHING_SPENT;
	for (const [category, ms] of wanted) {
		const given = Math.min(rest, Math.max(0, ms));
		rest -= given;
		spent = addSpent(spent, { [category]: given });
	}
	return { spent, rest };
}
