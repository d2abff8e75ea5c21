import { formatCount } from "../../base/units.js";
import {
	leftOfNode,
	type NodePhase,
	type NodeStatus,
	pidsInWords,
	type RunDocument,
	stateInWords,
	stepsInWords,
} from "../../status/index.js";
import type { SectionProps } from "./model.js";
import { type Column, PhaseSign, Section, Table } from "./parts.js";
import { ago, plain } from "./words.js";

/** The nodes of the newest round by rank, then the others. */
export function Nodes({ document, model }: SectionProps) {
	const { run, node } = document;
	if (run === null) return null;
	const count = formatCount(run.nodes.length, "node");
	return (
		<Section id="nodes" title="Nodes" note={count}>
			<Table
				columns={columnsOf(run, node.nodeId, model.now)}
				rows={run.nodes}
				keyOf={({ nodeId }) => nodeId}
				empty="There are none."
			/>
		</Section>
	);
}

function columnsOf(
	run: RunDocument,
	ownNodeId: string,
	now: number,
): readonly Column<NodeStatus>[] {
	const { nodes, coordinator, policy } = run;
	const nameOf = ({ nodeId }: NodeStatus) => (
		<>
			<strong>{nodeId}</strong>
			{nodeId === ownNodeId && <span class="tag">this one</span>}
			{nodeId === coordinator && <span class="tag wide">coordinates</span>}
		</>
	);
	const stateOf = (node: NodeStatus) => (
		<>
			<PhaseSign phase={phaseOf(node)} />
			{plain(stateInWords(node, run))}
		</>
	);
	const isShown: Readonly<Record<string, boolean>> = {
		"last step": nodes.some(({ workers }) => workers.length > 0),
		role: nodes.some(({ role }) => role !== "default"),
		"restarts left":
			policy !== "hard" || nodes.some(({ restarts }) => restarts?.used),
	};
	const columns: readonly Column<NodeStatus>[] = [
		["node", "", nameOf],
		["ranks", "number", ranksOf],
		["state", "", stateOf],
		["since", "number", ({ since }) => ago(since, now)],
		["last step", "number", ({ workers }) => stepsInWords(workers)],
		["role", "wide", ({ role }) => role],
		["launcher", "wide", launcherOf],
		["restarts left", "number", (node) => leftOfNode(node, now) ?? "–"],
		["workers", "text wide", (node) => pidsInWords(node, "–") ?? "–"],
	];
	return columns.filter(([name]) => isShown[name] ?? true);
}

function ranksOf({ ranks }: NodeStatus): string {
	if (ranks === null) return "–";
	const [first, last] = ranks;
	return first === last ? `${first}` : `${first}–${last}`;
}

function phaseOf({ state, part }: NodeStatus): NodePhase {
	if (part === "refused") return "gone";
	if (state !== "ready") return state;
	return part === "spare" ? "spare" : "joining";
}

function launcherOf({ pid, address }: NodeStatus): string {
	return pid === null ? "–" : `${pid} on ${address}`;
}
