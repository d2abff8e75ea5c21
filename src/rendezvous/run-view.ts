import type { HistoryRecord } from "./history.js";
import type { RunKeys } from "./keys.js";
import { decodeRecord, recordAt } from "./record-codec.js";
import type {
	BudgetRecord,
	FinishedRecord,
	NodeRecord,
	RoundRecord,
	Seat,
} from "./records.js";
import type { Entry, Snapshot } from "./store.js";
import type { WaitingRecord } from "./waiting.js";

/** A live agent's record and when it was made and last changed. */
export interface NodeView {
	readonly record: NodeRecord;
	readonly createRevision: number;
	readonly modRevision: number;
}

/** The whole of a run as the coordinator sees it at one revision. */
export interface RunView {
	readonly revision: number;
	readonly round: RoundRecord;
	readonly roundRevision: number;
	/** By node id. */
	readonly nodes: ReadonlyMap<string, NodeView>;
	readonly seats: ReadonlyMap<string, Seat>;
	/** Nodes that have finished the current plan. */
	readonly finished: ReadonlySet<string>;
	/** Nodes that had finished an earlier plan, and whose process has no seat in this one. */
	readonly done: ReadonlySet<string>;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
	/** The history's line of the newest synced round, where it was read and is there. */
	readonly story: HistoryRecord | undefined;
	/** Members that were seen to leave before, by incarnation, as they said it last; where somebody remembers. */
	readonly leavers?: ReadonlyMap<string, NodeRecord>;
	/** What users have been told that is waited for. */
	readonly waiting: WaitingRecord | undefined;
}

const nodeOf = remembered(
	(entry): NodeView => ({
		record: decodeRecord<NodeRecord>(entry),
		createRevision: entry.createRevision,
		modRevision: entry.modRevision,
	}),
);
const seatOf = remembered((entry) => decodeRecord<Seat>(entry));

/** Reads a snapshot of what a run's keys say at present; undefined where the run has no round yet. */
export function readRunView(
	keys: RunKeys,
	snapshot: Snapshot,
): RunView | undefined {
	const roundEntry = snapshot.entries.get(keys.round);
	if (roundEntry === undefined) return undefined;
	const round = decodeRecord<RoundRecord>(roundEntry);
	const seats = mapBelow(snapshot, keys.seats, seatOf);
	const finished = [...below<FinishedRecord>(snapshot, keys.finished)];
	const nodesOf = (chosen: typeof finished) =>
		new Set(chosen.map(([nodeId]) => nodeId));
	const nodes = mapBelow(snapshot, keys.nodes, nodeOf);
	const hasSeat = (nodeId: string) => {
		const seat = seats.get(nodeId);
		const isCurrent = seat && "planId" in seat && seat.planId === round.planId;
		// One that was taken for dead may have finished, and come back when its replacement had gone.
		return isCurrent && nodes.get(nodeId)?.record.state !== "finished";
	};
	return {
		revision: snapshot.revision,
		round,
		roundRevision: roundEntry.modRevision,
		nodes,
		seats,
		finished: nodesOf(
			finished.filter(([, { planId }]) => planId === round.planId),
		),
		done: nodesOf(
			finished.filter(
				([nodeId, { planId }]) => planId !== round.planId && !hasSeat(nodeId),
			),
		),
		budgets: below<BudgetRecord>(snapshot, keys.budgets),
		story: recordAt<HistoryRecord>(snapshot, keys.historyOf(round.synced)),
		waiting: recordAt<WaitingRecord>(snapshot, keys.waiting),
	};
}

function below<Record extends { readonly version: 1 }>(
	snapshot: Snapshot,
	prefix: string,
): ReadonlyMap<string, Record> {
	return mapBelow(snapshot, prefix, (entry) => decodeRecord<Record>(entry));
}

function mapBelow<Value>(
	snapshot: Snapshot,
	prefix: string,
	read: (entry: Entry) => Value,
): ReadonlyMap<string, Value> {
	const values = new Map<string, Value>();
	for (const [key, entry] of snapshot.entries) {
		if (key.startsWith(prefix)) {
			values.set(key.slice(prefix.length), read(entry));
		}
	}
	return values;
}

/** Reads each entry once: a large job has thousands, of which few change from one look to the next. */
function remembered<Value extends object>(
	read: (entry: Entry) => Value,
): (entry: Entry) => Value {
	const known = new WeakMap<Entry, Value>();
	return (entry) => {
		const value = known.get(entry) ?? read(entry);
		known.set(entry, value);
		return value;
	};
}
