import type { Clock } from "./clock.js";

/**
 * The promise's value, or undefined if it takes longer than this many milliseconds. Use it for promises that settle soon:
 * each call stays tied to its promise until then. For repeated waits on something far away use `abortsWithin`.
 */
export function within<Value>(
	clock: Clock,
	durationMs: number,
	promise: Promise<Value>,
): Promise<Value | undefined> {
	return new Promise((resolve, reject) => {
		const cancel = clock.wakeAt(clock.now() + durationMs, () =>
			resolve(undefined),
		);
		promise.finally(cancel).then(resolve, reject);
	});
}

/** Whether the signal aborts within this many milliseconds. Leaves no listener on it. */
export function abortsWithin(
	clock: Clock,
	durationMs: number,
	signal: AbortSignal,
): Promise<boolean> {
	if (signal.aborted) return Promise.resolve(true);
	return new Promise((resolve) => {
		const aborted = () => {
			cancel();
			resolve(true);
		};
		const cancel = clock.wakeAt(clock.now() + durationMs, () => {
			signal.removeEventListener("abort", aborted);
			resolve(false);
		});
		signal.addEventListener("abort", aborted, { once: true });
	});
}
