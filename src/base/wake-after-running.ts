import type { Clock } from "./clock.js";

const PARTS = 2;

/**
 * Calls `wake` once this process has waited so long. If it stood still meanwhile (SIGSTOP, a frozen container, no free
 * processor), its timers ring late, and before it has heard what came in the meantime. So it waits in two halves: the first
 * may be over at once, but in the second it hears all. Returns a function that cancels it.
 */
export function wakeAfterRunning(
	clock: Clock,
	durationMs: number,
	wake: () => void,
): () => void {
	let cancel = () => {};
	const wait = (parts: number) => {
		cancel = clock.wakeAt(clock.now() + durationMs / PARTS, () => {
			if (parts > 1) wait(parts - 1);
			else wake();
		});
	};
	wait(PARTS);
	return () => cancel();
}
