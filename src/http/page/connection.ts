/** The page's connection to its agent. Times are by the browser's clock, in milliseconds since 1970. */
export interface Connection {
	readonly state: "connecting" | "live" | "lost" | "refused";
	/** When the agent last answered; if it never has, when it was first found not to. */
	readonly since: number | null;
	/** Why it does not answer, in words. */
	readonly problem: string;
	/** How far the agent's clock is ahead of the browser's, at least; null if it never answered. */
	readonly skewMs: number | null;
}

export const CONNECTING: Connection = {
	state: "connecting",
	since: null,
	problem: "",
	skewMs: null,
};

const LIVE_EVERY_MS = 1_000;
const LOST_EVERY_MS = 2_000;
const HIDDEN_EVERY_MS = 10_000;

/** Handles an answer. A document may be older than its request but never newer, so the latest clock is the right one. */
export function answered(
	{ skewMs }: Connection,
	documentAt: number,
	at: number,
): Connection {
	const skew = documentAt - at;
	const latest = Math.max(skew, skewMs ?? skew);
	return { state: "live", since: at, problem: "", skewMs: latest };
}

/** Handles a missing answer, or (`refused`) one that cannot be shown. */
export function failed(
	connection: Connection,
	problem: string,
	at: number,
	state: "lost" | "refused" = "lost",
): Connection {
	return { ...connection, state, since: connection.since ?? at, problem };
}

/**
 * When to request again, in milliseconds.
 * @param elapsedMs since the last request: an answer may take a while
 */
export function delayOf(
	{ state }: Connection,
	isHidden: boolean,
	elapsedMs: number,
): number {
	const every = state === "live" ? LIVE_EVERY_MS : LOST_EVERY_MS;
	return Math.max(0, (isHidden ? HIDDEN_EVERY_MS : every) - elapsedMs);
}

/** The agent's time; while it does not answer, the last one known. */
export function agentTime({ state, skewMs, since }: Connection, at: number) {
	const isKnown = state === "live" || skewMs === null || since === null;
	return (isKnown ? at : since) + (skewMs ?? 0);
}
