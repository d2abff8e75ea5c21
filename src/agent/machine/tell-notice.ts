import type { AgentEffect } from "./inputs.js";
import type { AgentState } from "./state.js";
import type { WorkerSlot } from "./worker-slot.js";

/** The workers of this node learn of the notice of the earliest deadline. */
export function tellNotice(
	state: AgentState,
	isFirst: boolean,
	localRanks = listening(state),
): readonly AgentEffect[] {
	const { notices } = state;
	if (notices === undefined || localRanks.length === 0) return [];
	const [{ notice }] = notices;
	const { deadline = null, source, reason } = notice;
	const said = { deadline, source, reason };
	return [{ kind: "tell-notice", localRanks, ...said, isFirst }];
}

/** They learn that their machine stays. */
export function tellStay(
	state: AgentState,
	reason: string,
): readonly AgentEffect[] {
	const localRanks = listening(state);
	const said = { deadline: null, source: null, reason, isFirst: false };
	return localRanks.length === 0
		? []
		: [{ kind: "tell-notice", localRanks, ...said }];
}

function listening(state: AgentState): readonly number[] {
	if (!("workers" in state)) return [];
	const isThere = ({ status }: WorkerSlot) =>
		status !== "exited" && status !== "gone";
	return state.workers.filter(isThere).map(({ localRank }) => localRank);
}
