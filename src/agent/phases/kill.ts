import type { Stopping } from "../state.js";
import { remaining, type WorkerSlot } from "../worker-slot.js";
import type { Transition, TransitionContext } from "./step.js";

/** How long a killed process may take to vanish before it is given up, in milliseconds. */
export const UNKILLABLE_AFTER_MS = 5_000;

/** How late a timer may be before the agent itself must have been frozen, in milliseconds. */
const LATE_MS = 1_000;

/** SIGKILL to all that shall end. */
export function kill(
	state: Stopping,
	reason: string,
	context: TransitionContext,
): Transition {
	return {
		state: {
			...state,
			killAt: null,
			goneBy: context.now + UNKILLABLE_AFTER_MS,
		},
		effects: [{ kind: "kill", localRanks: remaining(state.workers) }],
		reason: `SIGKILL: ${reason}`,
	};
}

/** Who comes so late to its deadline has not heard yet what ended meanwhile. */
export function wasFrozen(deadline: number, now: number): boolean {
	return now - deadline > LATE_MS;
}

/** Names the processes that even SIGKILL has not ended. */
export function stuckReason(workers: readonly WorkerSlot[]): string {
	const pids = workers
		.filter(({ status }) => status !== "gone")
		.map(({ localRank, pid }) => `pid ${pid ?? "?"} (local rank ${localRank})`);
	return `not gone ${UNKILLABLE_AFTER_MS / 1000} s after SIGKILL, stuck in the kernel: ${pids.join(", ")}`;
}
