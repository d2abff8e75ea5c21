import { blame } from "../../evidence/blame.js";
import type { RankEvidence, Verdict } from "../../evidence/evidence.js";
import type { RunStatus } from "../../rendezvous/describe/run-status.js";
import { PHASES } from "../status/format-status.js";

/** The nodes whose workers are there: they work, are paused, run on while another role restarts, or do not end. */
export function nodesWithWorkers({
	nodes,
}: Pick<RunStatus, "nodes">): readonly string[] {
	const hasWorkers = ({ state, workerPids }: RunStatus["nodes"][number]) =>
		state === "running" ||
		(state !== "gone" && workerPids.some((pid) => pid !== null));
	return nodes.filter(hasWorkers).map(({ nodeId }) => nodeId);
}

/**
 * Says which rank keeps the others from a step. Between two rounds none does: the launchers wait, and say for what.
 * @param isWhole whether all nodes have told
 */
export function judgeNow(
	{ phase, waiting }: Pick<RunStatus, "phase" | "waiting">,
	ranks: readonly RankEvidence[],
	isWhole: boolean,
): Verdict {
	if (phase === "running") return blame(ranks, isWhole);
	const words = waiting === null ? "" : `: ${waiting.words}`;
	return {
		kind: "hung",
		suspects: [],
		waiting: ranks.map(({ rank }) => rank),
		reason: `${PHASES[phase]}${words}`,
	};
}
