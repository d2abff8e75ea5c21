import { formatCount } from "../../../base/units.js";
import { leftOfNode } from "../../../rendezvous/describe/budget-words.js";
import { stateInWords } from "../../../rendezvous/describe/node-state.js";
import type {
	NodeStatus,
	RunStatus,
} from "../../../rendezvous/describe/run-status.js";
import { stepsInWords } from "../../../rendezvous/describe/steps-words.js";
import { plain } from "./plain.js";
import { type Column, section, table } from "./table.js";
import { h, type Tree } from "./tree.js";
import { ago } from "./words.js";

/** At most this many of a node's workers are named by pid. */
const MOST_PIDS = 8;

/** The nodes of the newest round by rank, then the others. */
export function nodeTable(
	run: RunStatus,
	ownNodeId: string,
	now: number,
): Tree {
	const hasBudgets =
		run.policy !== "hard" || run.nodes.some(({ restarts }) => restarts?.used);
	const columns: readonly Column<NodeStatus>[] = [
		{
			name: "node",
			cell: ({ nodeId }) => [
				h("span", { class: "node" }, nodeId),
				nodeId === ownNodeId ? h("span", { class: "tag" }, "this one") : null,
				nodeId === run.coordinator
					? h("span", { class: "tag wide" }, "coordinates")
					: null,
			],
		},
		{ name: "ranks", cell: ranksOf, kind: "number" },
		{
			name: "state",
			cell: (node) =>
				h(
					"span",
					{ class: `state ${signOf(node)}` },
					plain(stateInWords(node, run)),
				),
		},
		{ name: "since", cell: ({ since }) => ago(since, now), kind: "number" },
		...stepColumn(run),
		...(run.nodes.some(({ role }) => role !== "default")
			? [{ name: "role", cell: ({ role }: NodeStatus) => role, kind: "wide" }]
			: []),
		{
			name: "launcher",
			cell: ({ pid, address }) => (pid === null ? "–" : `${pid} on ${address}`),
			kind: "wide",
		},
		...(hasBudgets
			? [
					{
						name: "restarts left",
						cell: (node: NodeStatus) => leftOfNode(node, now) ?? "–",
						kind: "number",
					},
				]
			: []),
		{ name: "workers", cell: pidsOf, kind: "text wide" },
	];
	return section(
		"nodes",
		"Nodes",
		h("span", { class: "note" }, formatCount(run.nodes.length, "node")),
		table("Nodes", columns, run.nodes, ({ nodeId }) => nodeId),
	);
}

/** Shown once a worker has made a step. */
function stepColumn({ nodes }: RunStatus): readonly Column<NodeStatus>[] {
	if (nodes.every(({ workers }) => workers.length === 0)) return [];
	const cell = ({ workers }: NodeStatus) => stepsInWords(workers);
	return [{ name: "last step", cell, kind: "number" }];
}

function ranksOf({ ranks }: NodeStatus): string {
	if (ranks === null) return "–";
	const [first, last] = ranks;
	return first === last ? `${first}` : `${first}–${last}`;
}

/** The sign beside the state's name. */
function signOf({ state, part }: NodeStatus): string {
	if (part === "refused") return "gone";
	if (state !== "ready") return state;
	return part === "spare" ? "spare" : "joining";
}

function pidsOf({ workerPids }: NodeStatus): string {
	if (workerPids.length === 0) return "–";
	const named = workerPids.slice(0, MOST_PIDS).map((pid) => pid ?? "–");
	const others = workerPids.length - named.length;
	return `${named.join(" ")}${others > 0 ? ` and ${others} more` : ""}`;
}
