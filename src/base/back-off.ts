import type { Clock } from "./clock.js";
import { ElasticRunError } from "./errors.js";

/** The wait after the first failure, in milliseconds. Each further failure doubles it. */
const SHORTEST_MS = 50;
const LONGEST_MS = 1_000;

/**
 * How long to wait before the next try, in milliseconds.
 * @param failures how many tries in a row have failed, from 1
 * @param random a number in [0, 1): a thousand agents must not come back at once
 */
export function backOffMs(failures: number, random: number): number {
	const longest = Math.min(LONGEST_MS, SHORTEST_MS * 2 ** (failures - 1));
	return longest * (0.5 + random / 2);
}

export function isUnreachable(error: unknown): boolean {
	return error instanceof ElasticRunError && error.code === "STORE_UNREACHABLE";
}

/** The store cannot be reached for a reason that waiting does not mend: credentials, certificates, permissions. */
export class HopelessStoreError extends ElasticRunError {
	constructor(message: string, options?: { cause?: unknown }) {
		super("STORE_UNREACHABLE", message, options);
	}
}

/** Whether a retry is useless until somebody changes something. */
export function isHopeless(error: unknown): boolean {
	return error instanceof HopelessStoreError;
}

/** Something other than the store blocks the agent and may pass in a moment. The agent retries at growing intervals. */
export class PassingError extends ElasticRunError {
	constructor(message: string, options?: { cause?: unknown }) {
		super("INTERNAL", message, options);
	}
}

/** Whether a retry may succeed without a change by anybody. */
export function isPassing(error: unknown): boolean {
	return isUnreachable(error) || error instanceof PassingError;
}

export interface RetryOptions {
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** When to give up, on `clock`. */
	readonly until: number;
	/** Retries even after a hopeless error: a store that once let us in may do so again. */
	readonly evenHopeless?: boolean;
}

/** Retries while the store is unreachable. Rejects with the last error when it is hopeless, or after `until`. */
export async function retry<Value>(
	{ clock, random, until, evenHopeless = false }: RetryOptions,
	attempt: () => Promise<Value>,
): Promise<Value> {
	for (let failures = 1; ; failures++) {
		try {
			return await attempt();
		} catch (error) {
			const delayMs = backOffMs(failures, random());
			const isWorthATry =
				isUnreachable(error) && (evenHopeless || !isHopeless(error));
			if (!isWorthATry || clock.now() + delayMs > until) throw error;
			await pause(clock, delayMs);
		}
	}
}

/** Resolves when this many milliseconds have passed. */
export function pause(clock: Clock, durationMs: number): Promise<void> {
	return new Promise((resolve) => {
		clock.wakeAt(clock.now() + durationMs, resolve);
	});
}
