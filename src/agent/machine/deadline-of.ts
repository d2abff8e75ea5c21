import { earliestOf } from "./earliest-deadline.js";
import { tooLateAt } from "./pending-notices.js";
import type { AgentState } from "./state.js";

/** When the agent must be woken even if nothing happens; undefined: never. */
export function deadlineOf(state: AgentState): number | undefined {
	const ofWorkers =
		"workers" in state ? earliestOf(state.workers) : Number.POSITIVE_INFINITY;
	const leaveBy = leaveByOf(state) ?? Number.POSITIVE_INFINITY;
	const termAt = termAtOf(state) ?? Number.POSITIVE_INFINITY;
	const termLater = termLaterOf(state) ?? Number.POSITIVE_INFINITY;
	const deadline = Math.min(ofWorkers, leaveBy, termAt, termLater);
	return deadline === Number.POSITIVE_INFINITY ? undefined : deadline;
}

function termLaterOf(state: AgentState): number | undefined {
	return state.phase === "STOPPING" ? state.termLater?.at : undefined;
}

function leaveByOf(state: AgentState): number | null {
	if (state.phase === "FINISHED") return state.leave?.leaveBy ?? null;
	const isLeaving = state.phase === "STOPPING" && state.next.kind === "leave";
	return isLeaving ? state.next.leaveBy : null;
}

/** When a notice makes it leave, if it does not leave already. */
function termAtOf(state: AgentState): number | undefined {
	if (state.phase === "CLOSED" || state.notices === undefined) return undefined;
	const { notices } = state;
	const [{ termAt }] = notices;
	switch (state.phase) {
		case "FINISHED":
			return state.leave === undefined ? termAt : undefined;
		case "RUNNING":
			return termAt;
		case "JOINING":
			return tooLateAt(notices);
		case "STOPPING": {
			if (state.next.kind === "leave") return state.next.holds?.until;
			const isOver = state.view !== null && state.view.round.outcome !== null;
			return isOver ? termAt : tooLateAt(notices);
		}
		default:
			return state satisfies never;
	}
}
