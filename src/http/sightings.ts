import { type AgentState, isSpare } from "../agent/machine/state.js";
import type {
	NodeStatus,
	RunStatus,
} from "../rendezvous/describe/run-status.js";
import type { NodePhase, Span } from "./spans.js";

/** The most remembered phases per node, and the most remembered nodes that left: more than is shown. */
const MOST_OF_NODE = 400;
const MOST_NODES = 2_000;

/** A node in one phase, from its start until it was last seen in it. */
interface Sighting {
	readonly phase: NodePhase;
	readonly round: number;
	readonly from: number;
	readonly seenAt: number;
}

/** An agent's observations of its run's nodes over time. */
export interface Sightings {
	/** The start of the run that it is about; 0 before the first read. */
	readonly instance: number;
	/** By node id, each in order. */
	readonly nodes: ReadonlyMap<string, readonly Sighting[]>;
	/** The agent's own node: the store knows nothing newer about it. */
	readonly own: string | null;
}

export const NOTHING_SEEN: Sightings = {
	instance: 0,
	nodes: new Map(),
	own: null,
};

/**
 * Adds a read of the whole run: all of its keys at one revision.
 * @param at milliseconds since 1970
 */
export function seeRun(
	sightings: Sightings,
	status: RunStatus,
	at: number,
): Sightings {
	const { instance, own, nodes } = ofInstance(sightings, status.instance);
	const seen = new Map(nodes);
	for (const node of status.nodes) {
		if (node.nodeId === own) continue;
		const phase = phaseOfNode(node, status);
		const round = roundOfNode(phase, status);
		add(seen, node.nodeId, { phase, round, since: node.since, at });
	}
	const present = new Set(status.nodes.map(({ nodeId }) => nodeId));
	for (const [nodeId, phases] of nodes) {
		if (present.has(nodeId) || nodeId === own) continue;
		const round = phases.at(-1)?.round ?? 0;
		add(seen, nodeId, { phase: "gone", round, since: null, at });
	}
	return { instance, own, nodes: bounded(seen, present) };
}

/**
 * Adds a change of the agent's own state.
 * @param at milliseconds since 1970
 */
export function seeAgent(
	sightings: Sightings,
	nodeId: string,
	state: AgentState,
	at: number,
): Sightings {
	if (state.view === null) return sightings;
	const { round } = state.view;
	const { instance, nodes } = ofInstance(sightings, round.instance);
	const seen = new Map(nodes);
	add(seen, nodeId, {
		phase: phaseOfAgent(state),
		round: roundOfAgent(state),
		since: at,
		at,
	});
	return { instance, nodes: seen, own: nodeId };
}

/**
 * The observed spans of each node, with gaps for what happened unseen.
 * @param isOver the run has ended: nothing continues
 */
export function spansSeen(
	{ nodes, own }: Sightings,
	isOver: boolean,
): ReadonlyMap<string, readonly Span[]> {
	return new Map(
		[...nodes].map(([nodeId, phases]) => [
			nodeId,
			phases.map(({ phase, round, from, seenAt }, index) => {
				const isLast = index === phases.length - 1;
				// A node misses nothing about itself.
				const next = nodeId === own ? phases[index + 1] : undefined;
				const to = isLast && !isOver ? null : (next?.from ?? seenAt);
				return { phase, round, from, to };
			}),
		]),
	);
}

function ofInstance(sightings: Sightings, instance: number): Sightings {
	return sightings.instance === instance
		? sightings
		: { ...NOTHING_SEEN, instance };
}

/** By another node's clock a phase may begin before the last one seen, or in the future; this corrects it. */
function add(
	nodes: Map<string, readonly Sighting[]>,
	nodeId: string,
	seen: {
		readonly phase: NodePhase;
		readonly round: number;
		readonly since: number | null;
		readonly at: number;
	},
): void {
	const { phase, round, since, at } = seen;
	const phases = nodes.get(nodeId) ?? [];
	const last = phases.at(-1);
	if (last?.phase === phase && last.round === round) {
		const seenAt = Math.max(last.seenAt, at);
		nodes.set(nodeId, [...phases.slice(0, -1), { ...last, seenAt }]);
		return;
	}
	const earliest = last?.seenAt ?? since ?? at;
	const seenAt = Math.max(last?.seenAt ?? at, at);
	const from = Math.min(seenAt, Math.max(since ?? earliest, earliest));
	const all = [...phases, { phase, round, from, seenAt }];
	nodes.set(nodeId, all.slice(-MOST_OF_NODE));
}

/** If there are too many nodes, those that left first are forgotten. */
function bounded(
	nodes: Map<string, readonly Sighting[]>,
	present: ReadonlySet<string>,
): Map<string, readonly Sighting[]> {
	const excess = nodes.size - MOST_NODES;
	if (excess <= 0) return nodes;
	const wentAt = (phases: readonly Sighting[]) => phases.at(-1)?.from ?? 0;
	const gone = [...nodes]
		.filter(([nodeId]) => !present.has(nodeId))
		.sort(([, left], [, right]) => wentAt(left) - wentAt(right));
	for (const [nodeId] of gone.slice(0, excess)) nodes.delete(nodeId);
	return nodes;
}

function phaseOfNode(
	{ state, part, workerPids }: NodeStatus,
	{ phase }: RunStatus,
): NodePhase {
	switch (state) {
		case "ready":
			if (workerPids.some((pid) => pid !== null)) return "paused";
			return part !== "member" && phase === "running" ? "spare" : "joining";
		case "joining":
			return "joining";
		default:
			return state;
	}
}

/** A node that joins while no round runs waits for the next. */
function roundOfNode(phase: NodePhase, { round, ...run }: RunStatus): number {
	return phase === "joining" && run.phase !== "running" ? round + 1 : round;
}

function phaseOfAgent(state: AgentState): NodePhase {
	switch (state.phase) {
		case "RUNNING":
			return "running";
		case "STOPPING":
			return state.next.kind === "leave" ? "leaving" : "stopping";
		case "FINISHED":
			return "finished";
		case "CLOSED":
			return "gone";
		case "JOINING": {
			if (state.workers.some(({ status }) => status === "paused")) {
				return "paused";
			}
			return isSpare(state) ? "spare" : "joining";
		}
		default:
			return state satisfies never;
	}
}

function roundOfAgent(state: AgentState): number {
	const synced = state.view?.round.synced ?? 0;
	if (state.phase === "CLOSED") return synced;
	if (state.phase !== "JOINING") return state.round;
	const phase = phaseOfAgent(state);
	if (phase === "spare") return synced;
	return phase === "paused" ? state.round : Math.max(state.claim, 1);
}
