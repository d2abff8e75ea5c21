import { PROGRESS, type ProgressRecord } from "../../model/progress.js";
import type { RunKeys } from "../records/keys.js";
import { informationAt, type Warn } from "../records/record-codec.js";
import type { Snapshot } from "../store/store.js";
import type { NodeStatus, RunStatus, WorkerStatus } from "./run-status.js";

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
		({
			localRank,
			step,
			source,
			stepAt,
			rate,
			metrics,
			start,
		}): WorkerStatus => ({
			localRank,
			rank: firstRank === undefined ? null : firstRank + localRank,
			step,
			stepRate: rate,
			secondsSinceStep: Math.max(0, wallTime - stepAt) / 1_000,
			stepSource: source,
			start: start ?? "cold",
			metrics: metrics ?? {},
		}),
	);
	return { ...node, workers };
}

/** What the nodes of a round have found out: what the first of them that knows something says. */
export function findingsOf(
	nodes: readonly Pick<NodeStatus, "nodeId">[],
	round: Round,
	sources: Sources,
): Pick<RunStatus, "straggler" | "hang"> {
	const records = nodes.flatMap(
		({ nodeId }) => progressOf(nodeId, round, sources) ?? [],
	);
	const hangs = records.flatMap(({ hang }) => hang ?? []);
	return {
		straggler: records.flatMap(({ straggler }) => straggler ?? [])[0] ?? null,
		hang: hangs.find(({ suspect }) => suspect !== null) ?? hangs[0] ?? null,
	};
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
