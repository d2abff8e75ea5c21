import { earliestOf } from "./earliest-deadline.js";
import type { AgentState } from "./state.js";

/** When the agent must be woken even if nothing happens; undefined: never. */
export function deadlineOf(state: AgentState): number | undefined {
	const ofWorkers =
		"workers" in state ? earliestOf(state.workers) : Number.POSITIVE_INFINITY;
	const leaveBy = leaveByOf(state) ?? Number.POSITIVE_INFINITY;
	const termAt = termAtOf(state) ?? Number.POSITIVE_INFINITY;
	const deadline = Math.min(ofWorkers, leaveBy, termAt);
	return deadline === Number.POSITIVE_INFINITY ? undefined : deadline;
}

function leaveByOf(state: AgentState): number | null {
	if (state.phase === "FINISHED") return state.leave?.leaveBy ?? null;
	const isLeaving = state.phase === "STOPPING" && state.next.kind === "leave";
	return isLeaving ? state.next.leaveBy : null;
}

/** When a notice makes it leave, if it does not leave already. */
function termAtOf(state: AgentState): number | undefined {
	const [first] = state.notices ?? [];
	switch (state.phase) {
		case "CLOSED":
			return undefined;
		case "FINISHED":
			return state.leave === undefined ? first?.termAt : undefined;
		case "STOPPING":
			return state.next.kind === "leave"
				? state.next.holds?.until
				: first?.termAt;
		default:
			return first?.termAt;
	}
}
