/** What to do with the replies that were found in a channel. */
export interface LookPlan {
	/** Ascending. */
	readonly read: readonly number[];
	readonly drop: readonly number[];
}

/** At least this many of the newest replies are read, however small the allowance: a waiting worker says so last. */
const NEWEST = 16;

/**
 * Chooses which replies to read. If there are more than `allowed`, the newest count: the worker's last step, and whether
 * it waits. `sequences` may be in any order.
 */
export function planLook(
	sequences: readonly number[],
	allowed: number,
): LookPlan {
	const ascending = [...sequences].sort((a, b) => a - b);
	const dropped = Math.max(0, ascending.length - Math.max(allowed, NEWEST));
	return { read: ascending.slice(dropped), drop: ascending.slice(0, dropped) };
}
