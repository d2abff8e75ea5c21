import type { RunKeys } from "../records/keys.js";
import {
	PROGRESS,
	type ProgressRecord,
	type Straggler,
} from "../records/progress-record.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import type { NodeStatus, WorkerStatus } from "./run-status.js";

type Round = { readonly instance: number; readonly synced: number };

/** Where the records of the run's agents are. */
export interface Sources {
	readonly keys: RunKeys;
	readonly snapshot: Snapshot;
	/** Milliseconds since 1970. */
	readonly wallTime: number;
	readonly warn: Warn;
}

/** Adds to a node how far its workers have come in this round, from what its agent has published. */
export function withWorkers(
	node: Omit<NodeStatus, "workers">,
	round: Round,
	sources: Sources,
): NodeStatus {
	const { wallTime } = sources;
	const firstRank = node.ranks?.[0];
	const known = progressOf(node.nodeId, round, sources);
	const workers = (known?.workers ?? []).map(
		({ localRank, step, source, stepAt, rate, metrics }): WorkerStatus => ({
			localRank,
			rank: firstRank === undefined ? null : firstRank + localRank,
			step,
			stepRate: rate,
			secondsSinceStep: Math.max(0, wallTime - stepAt) / 1_000,
			stepSource: source,
			metrics: metrics ?? {},
		}),
	);
	return { ...node, workers };
}

/** The rank that all wait for, as the first of these nodes has found out; null if there is none. */
export function stragglerOf(
	nodes: readonly Pick<NodeStatus, "nodeId">[],
	round: Round,
	sources: Sources,
): Straggler | null {
	for (const { nodeId } of nodes) {
		const known = progressOf(nodeId, round, sources);
		if (known?.straggler) return known.straggler;
	}
	return null;
}

function progressOf(
	nodeId: string,
	{ instance, synced }: Round,
	{ keys, snapshot, warn }: Sources,
): ProgressRecord | undefined {
	const key = keys.progressOf(nodeId);
	const known = informationAt(PROGRESS, snapshot, key, warn);
	const isCurrent = known?.instance === instance && known.round === synced;
	return isCurrent ? known : undefined;
}
