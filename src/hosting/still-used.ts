/** The state of the run in a store. */
export type Sight =
	/** A node holds a lease. */
	| "used"
	/** The run has an outcome, and no node holds a lease. */
	| "over"
	/** The run has no outcome, and no node holds a lease. */
	| "deserted"
	/** The store does not answer: it has no majority, or is busy. */
	| "unknown";

/** What a keeper remembers between looks; times in milliseconds. */
export interface UseMemory {
	/** When it was last seen in use, or else when the keeper began. */
	readonly usedAt: number;
	/** Since when the run is over. */
	readonly overSince: number | undefined;
}

export interface UseLimits {
	/** How long it may stay unused. */
	readonly idleMs: number;
	/** The agent here has left regularly, so every other node of the run holds a lease. */
	readonly hasLeft: boolean;
}

/** How long etcd stays after the run's end, for nodes that still read the outcome. */
const OVER_MS = 5_000;
/** How long a deserted etcd stays after its agent has left regularly. */
const LEFT_MS = 10_000;

/** Whether the etcd is no longer needed. If it does not answer, the earlier state counts. */
export function judgeUse(
	{ usedAt, overSince }: UseMemory,
	sight: Sight,
	now: number,
	{ idleMs, hasLeft }: UseLimits,
): { readonly memory: UseMemory; readonly isDone: boolean } {
	const memory: UseMemory = {
		usedAt: sight === "used" ? now : usedAt,
		overSince:
			sight === "over"
				? (overSince ?? now)
				: sight === "unknown"
					? overSince
					: undefined,
	};
	const isOver =
		memory.overSince !== undefined && now - memory.overSince >= OVER_MS;
	const desertedMs = now - memory.usedAt;
	const isLeft = hasLeft && sight === "deserted" && desertedMs >= LEFT_MS;
	return { memory, isDone: isOver || isLeft || desertedMs >= idleMs };
}
