import type { Clock } from "../clock.js";

/** What the promise resolves with, or undefined where that takes longer than this many milliseconds. */
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
