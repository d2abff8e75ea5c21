import { formatCount } from "../../base/units.js";
import { leftOfNode } from "../../rendezvous/describe/budget-words.js";
import { stateInWords } from "../../rendezvous/describe/node-state.js";
import type {
	NodeStatus,
	RunStatus,
} from "../../rendezvous/describe/run-status.js";
import { stepsInWords } from "../../rendezvous/describe/steps-words.js";
import type { NodePhase } from "../spans.js";
import type { SectionProps } from "./model.js";
import { type Column, PhaseSign, Section, Table } from "./parts.js";
import { ago, plain } from "./words.js";

/** At most this many of a node's workers are named by pid. */
const MOST_PIDS = 8;

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
	run: RunStatus,
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
		["workers", "text wide", pidsOf],
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

function pidsOf({ workerPids }: NodeStatus): string {
	if (workerPids.length === 0) return "–";
	const named = workerPids.slice(0, MOST_PIDS).map((pid) => pid ?? "–");
	const others = workerPids.length - named.length;
	return `${named.join(" ")}${others > 0 ? ` and ${others} more` : ""}`;
}
