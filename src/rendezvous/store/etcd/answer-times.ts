/** How long to wait for answers, in milliseconds. */
export interface AnswerTime {
	/** On a connection that has received something. */
	readonly withinMs: number;
	/** On a connected one that has received nothing yet: the handshake takes several round trips. */
	readonly firstWithinMs: number;
}

/** The default time to live of leases, in milliseconds. */
const USUAL_TTL_MS = 5_000;
const SHORTEST_MS = 1_000;
/** A server that takes longer counts as dead, however long leases live. */
const LONGEST_MS = 5_000;
/** The fractions of a lease's time to live that answers may take. */
const CALL_PART = 1 / 5;
const KEEPALIVE_PART = 1 / 6;
const FIRST_PART = 2 / 5;

/** The time for calls. A longer lease means a slower store, or more time to wait for it. */
export function callTime(leaseTtlMs = USUAL_TTL_MS): AnswerTime {
	const part = leaseTtlMs * CALL_PART;
	const withinMs = Math.min(LONGEST_MS, Math.max(SHORTEST_MS, part));
	return { withinMs, firstWithinMs: 2 * withinMs };
}

/**
 * The time for a lease's keepalives. An unanswered one is given up early enough for others. Sent after a fifth of the
 * time to live on a connection that has died, and again on the next one, a keepalive is answered or given up before 0.8
 * of that time, when an agent stops relying on its lease.
 */
export function keepaliveTime(ttlMs: number): AnswerTime {
	return {
		withinMs: ttlMs * KEEPALIVE_PART,
		firstWithinMs: ttlMs * FIRST_PART,
	};
}
