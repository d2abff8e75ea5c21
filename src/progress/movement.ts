/** When a worker last moved, from whatever source. Times are milliseconds on the agent's steady clock. */
export interface Movement {
	readonly at: number;
	/** How often it has moved in this round. */
	readonly moves: number;
	/** The longest time from one move to the next that was not announced; 0 before the second. */
	readonly longestMs: number;
}

/** @param wasAnnounced it had said that no step comes for so long */
export function noteMove(
	before: Movement | undefined,
	at: number,
	wasAnnounced: boolean,
): Movement {
	if (before === undefined) return { at, moves: 1, longestMs: 0 };
	const { moves, longestMs } = before;
	const tookMs = wasAnnounced ? 0 : at - before.at;
	return { at, moves: moves + 1, longestMs: Math.max(longestMs, tookMs) };
}
