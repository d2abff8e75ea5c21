import type { Active } from "./begin-stopping.js";
import type { Transition, TransitionContext } from "./step.js";
import { isPausing } from "./worker-slot.js";
import { HINT_AFTER_MS, isDue } from "./worker-slots.js";

/** An agent so late for a deadline, in milliseconds, was stopped itself: SIGSTOP, or the machine slept … */
export const STOPPED_MS = 1_000;
/** … and first reads what its workers have said meanwhile, which may take this long. */
export const NEWS_MS = 2_000;

/**
 * Some workers have not answered their first PAUSE: their program may not receive events. Warns once, early enough, which
 * call is missing; undefined if this is not due.
 */
export function hintOfSilence(
	state: Active,
	{ now, pauseTimeoutMs }: TransitionContext,
): Transition | undefined {
	const silent = state.workers
		.filter(isPausing)
		.filter(({ pause }) => isDue(pause.hintAt, now));
	const [first] = silent;
	if (first === undefined) return undefined;
	const wasStopped = now - (first.pause.hintAt ?? now) > STOPPED_MS;
	const hintAt = wasStopped ? now + NEWS_MS : null;
	const workers = state.workers.map((worker) =>
		isPausing(worker) && silent.includes(worker)
			? { ...worker, pause: { ...worker.pause, hintAt } }
			: worker,
	);
	const ranks = silent.map(({ localRank }) => localRank).join(", ");
	const message = `no answer to the first PAUSE for ${HINT_AFTER_MS / 1000} s from local rank ${ranks}: its program may not receive events. Let it call waitForWork(), onWorkerEvent() or workerEvents() of elastic-run/runtime, in Python wait_for_work() or on_worker_event() of elastic_run. The others wait for it, and a worker that does not acknowledge PAUSE within ${pauseTimeoutMs / 1000} s (--pause-timeout) is ended and started again`;
	return {
		state: { ...state, workers },
		effects: wasStopped ? [] : [{ kind: "warn", message }],
		reason: "",
	};
}
