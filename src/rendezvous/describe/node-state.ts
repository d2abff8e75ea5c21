import { formatCount } from "../../base/units.js";
import type { NodeStatus, RunStatus } from "./run-status.js";

/** A node's state for people. Its reason for leaving is its own text, which may hold control sequences. */
export function stateInWords(
	{ state, part, cause }: NodeStatus,
	run: Pick<RunStatus, "nodes" | "minNodes" | "outcome">,
): string {
	if (part === "refused") return "refused";
	if (state === "leaving" && cause !== null) return `leaving (${cause})`;
	if (state !== "ready") return state;
	if (part === "spare") return "ready (spare)";
	if (part === "waiting" && run.outcome === null) return waitsFor(run);
	return state;
}

function waitsFor({
	nodes,
	minNodes,
}: Pick<RunStatus, "nodes" | "minNodes">): string {
	const here = nodes.filter(
		({ part, state }) =>
			part !== "refused" && state !== "gone" && state !== "leaving",
	);
	return minNodes !== null && here.length < minNodes
		? `waiting for ${formatCount(minNodes, "node")}`
		: "waiting for the round";
}
