import { formatCount } from "../../base/units.js";
import type { NextStart } from "../../model/start.js";
import type {
	NodeStatus,
	ShownStarts,
} from "../../rendezvous/describe/run-status.js";
import { withSaved } from "../../rendezvous/describe/words-of-starts.js";

/** At most so many different reasons are shown, those of most nodes … */
const MOST_REASONS = 4;
/** … and so many nodes with each. */
const MOST_NODES = 4;

type Node = Pick<NodeStatus, "nodeId" | "starts" | "nextStart">;

/** Whether any of these nodes may start workers warm: without `--warm auto` nothing is shown. */
export function showsStarts(nodes: readonly Node[]): boolean {
	return nodes.some(({ starts, nextStart }) => starts ?? nextStart);
}

export const STARTS_HEADER = ["started", "next start"] as const;

/** The cells of a node, below `STARTS_HEADER`. */
export function startCells({ starts, nextStart }: Node): readonly string[] {
	return [startedInWords(starts), nextInWords(nextStart)];
}

function startedInWords(starts: ShownStarts | undefined): string {
	const { warm = 0, cold = 0, savedMs } = starts ?? {};
	if (warm + cold === 0) return "-";
	if (cold === 0) return withSaved("warm", savedMs);
	return warm === 0 ? "cold" : `${warm} of ${warm + cold} warm`;
}

function nextInWords(next: NextStart | undefined): string {
	if (next === undefined) return "-";
	const { start, modules, bytes, waiting } = next;
	if (start !== "warm") return start;
	const has = [
		...(modules === undefined ? [] : [`${modules} modules`]),
		...(bytes === undefined ? [] : [`${Math.round(bytes / 1e6)} MB`]),
		...(waiting === undefined ? [] : [`${waiting} wait`]),
	];
	return has.length === 0 ? "warm" : `warm (${has.join(", ")})`;
}

/** Why starts were cold, and why the next ones will be: a line for each reason, with the nodes that it has. */
export function coldReasons(nodes: readonly Node[]): readonly string[] {
	const all = [
		...grouped("started cold", nodes, ({ starts }) => starts?.reason),
		// A helper that imports says all in its column.
		...grouped("the next start is cold", nodes, ({ nextStart }) =>
			nextStart?.start === "cold" ? nextStart.reason : undefined,
		),
	].sort((left, right) => right.nodes.length - left.nodes.length);
	const others = all.length - MOST_REASONS;
	return [
		...all
			.slice(0, MOST_REASONS)
			.map(
				({ what, reason, nodes: where }) =>
					`  ${what} on ${listed(where)}: ${reason}`,
			),
		...(others > 0 ? [`  … and ${formatCount(others, "other reason")}`] : []),
	];
}

function grouped(
	what: string,
	nodes: readonly Node[],
	reasonOf: (node: Node) => string | undefined,
) {
	const byReason = new Map<string, string[]>();
	for (const node of nodes) {
		const reason = reasonOf(node);
		if (reason === undefined) continue;
		byReason.set(reason, [...(byReason.get(reason) ?? []), node.nodeId]);
	}
	return [...byReason].map(([reason, where]) => ({
		...{ what, reason, nodes: where },
	}));
}

function listed(nodeIds: readonly string[]): string {
	const others = nodeIds.length - MOST_NODES;
	const named = nodeIds.slice(0, MOST_NODES).join(", ");
	return others > 0 ? `${named} and ${others} more` : named;
}
