import { formatCount, formatInstant } from "../../base/units.js";
import type { NoticeRecord } from "../records/records.js";
import type { NodeStatus, RunStatus } from "./run-status.js";

/** A node's state for people. Its reason for leaving is its own text, which may hold control sequences. */
export function stateInWords(
	node: NodeStatus,
	run: Pick<RunStatus, "nodes" | "minNodes" | "outcome">,
): string {
	const { state, cause, notice } = node;
	if (state === "leaving" && cause !== null) return `leaving (${cause})`;
	const words = partInWords(node, run);
	return notice === null ? words : `${words} (${noticeInWords(notice)})`;
}

/** "notice from aws: spot interruption, gone at 2026-11-26 12:00:00 UTC". */
function noticeInWords({ source, reason, deadline }: NoticeRecord): string {
	const by =
		deadline === undefined ? "" : `, gone at ${formatInstant(deadline)}`;
	return `notice from ${source}: ${reason}${by}`;
}

function partInWords(
	{ state, part }: NodeStatus,
	run: Pick<RunStatus, "nodes" | "minNodes" | "outcome">,
): string {
	if (part === "refused") return "refused";
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
