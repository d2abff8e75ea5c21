import type { Running, Stopping } from "./state.js";
import type { Transition, TransitionContext } from "./step.js";
import { remaining } from "./worker-slot.js";
import { toKilled } from "./worker-slots.js";

/** How long a killed process may take to vanish before it is given up, in milliseconds. */
export const UNKILLABLE_AFTER_MS = 5_000;

/** SIGKILL for all workers that must end, or for the given ones. */
export function kill(
	state: Running | Stopping,
	reason: string,
	{ now }: TransitionContext,
	localRanks: readonly number[] = remaining(state.workers),
): Transition {
	const goneBy = now + UNKILLABLE_AFTER_MS;
	const workers = state.workers.map((worker) =>
		localRanks.includes(worker.localRank) ? toKilled(worker, goneBy) : worker,
	);
	return {
		state: { ...state, workers },
		effects: [{ kind: "kill", localRanks }],
		reason: `SIGKILL: ${reason}`,
	};
}
