import type { Finished, Running } from "./state.js";
import { ignore, type Transition } from "./step.js";
import { isUnexplained, remaining } from "./worker-slot.js";

/** The node has finished when none of its workers is left, and all have succeeded. */
export function finishIfDone(state: Running): Transition {
	const { workers } = state;
	if (remaining(workers).length > 0) return ignore(state);
	if (workers.some(isUnexplained)) return ignore(state);
	const finished: Finished = {
		phase: "FINISHED",
		view: state.view,
		instance: state.instance,
		failure: state.failure,
		failuresReported: state.failuresReported,
		notices: state.notices,
		round: state.round,
		planId: state.seat.planId,
	};
	return {
		state: finished,
		effects: [],
		reason: "all workers of this node succeeded",
	};
}
