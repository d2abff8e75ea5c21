import { formatCount } from "../../base/units.js";
import {
	leftOfNode,
	linksInWords,
	type NodeDocument,
	type NodePhase,
	type NodeStatus,
	pidsInWords,
	type RunDocument,
	stateInWords,
	stepNoun,
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
	const links =
		node.links === null
			? ""
			: ` · ${node.nodeId} ${linksInWords(node.links, model.now)}`;
	return (
		<Section id="nodes" title="Nodes" note={count + links}>
			<Table
				columns={columnsOf(run, node, model.now)}
				rows={run.nodes}
				keyOf={({ nodeId }) => nodeId}
				empty="There are none."
			/>
		</Section>
	);
}

function columnsOf(
	run: RunDocument,
	own: NodeDocument,
	now: number,
): readonly Column<NodeStatus>[] {
	const { nodes, coordinator, policy } = run;
	const nameOf = ({ nodeId }: NodeStatus) => (
		<>
			<strong>{nodeId}</strong>
			{nodeId === own.nodeId && <span class="tag">this one</span>}
			{isSuspected(own, nodeId) && <span class="tag">not heard</span>}
			{nodeId === coordinator && <span class="tag wide">coordinates</span>}
		</>
	);
	const stateOf = (node: NodeStatus) => (
		<>
			<PhaseSign phase={phaseOf(node)} />
			{plain(stateInWords(node, run))}
		</>
	);
	const sources = nodes.flatMap(({ workers }) =>
		workers.map(({ stepSource }) => stepSource),
	);
	const lastStep = `last ${stepNoun(sources)}`;
	const isShown: Readonly<Record<string, boolean>> = {
		[lastStep]: sources.length > 0,
		role: nodes.some(({ role }) => role !== "default"),
		"restarts left":
			policy !== "hard" || nodes.some(({ restarts }) => restarts?.used),
	};
	const columns: readonly Column<NodeStatus>[] = [
		["node", "", nameOf],
		["ranks", "number", ranksOf],
		["state", "", stateOf],
		["since", "number", ({ since }) => ago(since, now)],
		[lastStep, "number", ({ workers }) => stepsInWords(workers)],
		["role", "wide", ({ role }) => role],
		["launcher", "wide", launcherOf],
		["restarts left", "number", (node) => leftOfNode(node, now) ?? "–"],
		["workers", "text wide", (node) => pidsInWords(node, "–") ?? "–"],
	];
	return columns.filter(([name]) => isShown[name] ?? true);
}

/** Whether the agent that tells was linked with this node, and does not hear it. */
function isSuspected({ links }: NodeDocument, nodeId: string): boolean {
	return links?.suspected.some((one) => one.nodeId === nodeId) ?? false;
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
