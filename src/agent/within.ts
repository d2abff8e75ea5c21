import type { Clock } from "../clock.js";

/**
 * What the promise resolves with, or undefined where that takes longer than this many
 * milliseconds. For promises that settle soon: each call stays tied to its promise until
 * then. Who waits again and again for something far away uses `abortsWithin`.
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

/** Whether the signal is aborted before so many milliseconds are over. Leaves nothing behind on it. */
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
