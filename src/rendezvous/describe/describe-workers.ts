import type { RunKeys } from "../records/keys.js";
import { PROGRESS } from "../records/progress-record.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import type { NodeStatus, WorkerStatus } from "./run-status.js";

/** Adds to a node how far its workers have come in this round, from what its agent has published. */
export function withWorkers(
	node: Omit<NodeStatus, "workers">,
	round: { readonly instance: number; readonly synced: number },
	{ keys, snapshot }: { readonly keys: RunKeys; readonly snapshot: Snapshot },
	wallTime: number,
	warn: Warn,
): NodeStatus {
	const key = keys.progressOf(node.nodeId);
	const known = informationAt(PROGRESS, snapshot, key, warn);
	const isCurrent =
		known?.instance === round.instance && known.round === round.synced;
	const firstRank = node.ranks?.[0];
	const workers = (isCurrent ? known.workers : []).map(
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
