/** How the page stands with its agent. Times are of the browser's clock, in milliseconds since 1970. */
export interface Connection {
	readonly state: "connecting" | "live" | "lost" | "refused";
	/** When the agent answered last; null: never. */
	readonly answeredAt: number | null;
	/** Since when it does not; null: it does. */
	readonly failingSince: number | null;
	/** Why it does not, in words. */
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

/**
 * It answered. A document may have been put together a while before it was
 * asked for, but never after: the latest clock is the right one.
 */
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

/** It did not answer, or (`isRefusal`) nothing that could be shown. */
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
 * @param elapsedMs since it was asked last: an answer may be a while in coming
 */
export function delayOf(
	{ state }: Connection,
	isHidden: boolean,
	elapsedMs: number,
): number {
	const every = state === "live" ? LIVE_EVERY_MS : LOST_EVERY_MS;
	return Math.max(0, (isHidden ? HIDDEN_EVERY_MS : every) - elapsedMs);
}

/** What the agent's clock says; while it does not answer, what it said last. */
export function agentTime(
	{ state, skewMs, answeredAt }: Connection,
	at: number,
): number {
	const time = state === "live" ? at : (answeredAt ?? at);
	return time + (skewMs ?? 0);
}
