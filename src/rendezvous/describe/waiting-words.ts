import type { Awaited, NodeList } from "../records/waiting-record.js";

/** "waiting for 2 more nodes (at least 4): node-a, node-b are here; 590 s left". */
export function waitingInWords(
	waiting: Awaited & { readonly until: number | null },
	wallTime: number,
): string {
	const { until } = waiting;
	const left =
		until === null
			? ""
			: `; ${Math.max(0, Math.ceil((until - wallTime) / 1_000))} s left`;
	return `${whatIsAwaited(waiting)}${left}`;
}

function whatIsAwaited({
	kind,
	round,
	here,
	missing,
	needed,
	minNodes,
	maxNodes,
}: Awaited): string {
	switch (kind) {
		case "members":
			return `waiting for ${inWords(missing)}: ${areHere(here)}`;
		case "minimum": {
			const nodes = needed === 1 ? "node" : "nodes";
			const gone = missing.count === 0 ? "" : `; missing: ${inWords(missing)}`;
			// Enough nodes are here, and none of them has work left.
			const why =
				here.count >= minNodes
					? `, because the nodes that are here have finished: ${inWords(here)}`
					: ` (at least ${minNodes}): ${areHere(here)}`;
			return `waiting for ${needed} more ${nodes}${why}${gone}`;
		}
		case "last-call":
			return `last call (at most ${maxNodes} nodes): ${areHere(here)}`;
		case "newcomers":
			return `last call while round ${round - 1} runs: ${inWords(here)} would join`;
		case "delay":
			return "waiting before the restart, because the last ones failed before anything moved (--restart-delay)";
		case "end":
			return `waiting for the end of round ${round - 1}, which no node may join because one of its nodes has finished: ${areHere(here)}`;
		default:
			return kind satisfies never;
	}
}

function areHere(nodes: NodeList): string {
	if (nodes.count === 0) return "no node is here";
	return `${inWords(nodes)} ${nodes.count === 1 ? "is" : "are"} here`;
}

function inWords({ count, names }: NodeList): string {
	const others = count - names.length;
	return others === 0
		? names.join(", ")
		: `${names.join(", ")} and ${others} more`;
}
