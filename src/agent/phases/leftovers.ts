import { EXIT_CODES } from "../../errors.js";
import type { Running } from "../state.js";
import type { WorkerSlot } from "../worker-slot.js";
import { stuckReason, UNKILLABLE_AFTER_MS, wasFrozen } from "./kill.js";
import { ignore, type Transition, type TransitionContext } from "./step.js";
import { leave } from "./stop.js";
import { killDue } from "./worker-slots.js";

/** What successful workers left behind in their groups has its time to end; then it is killed; then it is given up. */
export function endLeftovers(
	state: Running,
	context: TransitionContext,
): Transition {
	const { now } = context;
	const stuck = state.workers.filter(
		({ goneBy }) => goneBy !== null && now >= goneBy,
	);
	if (stuck.some(({ goneBy }) => wasFrozen(goneBy ?? now, now))) {
		return waitOnceMore(state, stuck, now + UNKILLABLE_AFTER_MS);
	}
	return stuck.length > 0
		? giveUp(state, stuck, context)
		: killThoseDue(state, now);
}

function killThoseDue(state: Running, now: number): Transition {
	const due = killDue(state.workers, now, now + UNKILLABLE_AFTER_MS);
	if (due.localRanks.length === 0) return ignore(state);
	return {
		state: { ...state, workers: due.workers },
		effects: [{ kind: "kill", localRanks: due.localRanks }],
		reason: "",
	};
}

function waitOnceMore(
	state: Running,
	stuck: readonly WorkerSlot[],
	goneBy: number,
): Transition {
	const workers = state.workers.map((worker) =>
		stuck.includes(worker) ? { ...worker, goneBy } : worker,
	);
	return ignore({ ...state, workers });
}

/** A process that even SIGKILL does not end is a reason to replace the node. */
function giveUp(
	state: Running,
	stuck: readonly WorkerSlot[],
	context: TransitionContext,
): Transition {
	const exitCode = EXIT_CODES.replaceNode;
	const reason = stuckReason(stuck);
	return leave(state, { exitCode, reason, immediately: false }, context);
}
