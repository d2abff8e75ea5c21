import type { RunView } from "../records/run-view.js";

/** One process that coordinates. */
export interface Holder {
	readonly nodeId: string;
	readonly incarnation: string;
}

/**
 * Whether a coordinator resigns: its node leaves the run, so its machine may soon be gone, and another node stays that
 * can take over.
 */
export function handsOver(
	{ nodes, round }: Pick<RunView, "nodes" | "round">,
	{ nodeId, incarnation }: Holder,
): boolean {
	const own = nodes.get(nodeId)?.record;
	const isLeaving = own?.incarnation === incarnation && own.state === "leaving";
	return (
		isLeaving &&
		round.outcome === null &&
		[...nodes.values()].some(({ record }) => record.state !== "leaving")
	);
}
