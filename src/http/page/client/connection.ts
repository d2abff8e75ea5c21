/** The page's connection to its agent. Times are by the browser's clock, in milliseconds since 1970. */
export interface Connection {
	readonly state: "connecting" | "live" | "lost" | "refused";
	/** When the agent last answered; null if never. */
	readonly answeredAt: number | null;
	/** Since when it has not answered; null if it does. */
	readonly failingSince: number | null;
	/** Why it does not answer, in words. */
	readonly problem: string;
	/** How far the agent's clock is ahead of the browser's, at least. */
	readonly skewMs: number | null;
}

export const CONNECTING: Connection = {
	state: "connecting",
	answeredAt: null,
	failingSince: null,
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
	return {
		state: "live",
		answeredAt: at,
		failingSince: null,
		problem: "",
		skewMs: Math.max(skew, skewMs ?? skew),
	};
}

/** Handles a missing answer, or (`isRefusal`) one that cannot be shown. */
export function failed(
	connection: Connection,
	problem: string,
	at: number,
	isRefusal = false,
): Connection {
	return {
		...connection,
		state: isRefusal ? "refused" : "lost",
		failingSince: connection.failingSince ?? connection.answeredAt ?? at,
		problem,
	};
}

/**
 * When to ask again, in milliseconds.
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
export function agentTime(
	{ state, skewMs, answeredAt }: Connection,
	at: number,
): number {
	const time = state === "live" ? at : (answeredAt ?? at);
	return time + (skewMs ?? 0);
}
