import { NAME, NAME_WORDS } from "../../base/name.js";
import type { Infer } from "../../base/shape.js";
import type { Entry, Snapshot } from "../../store/index.js";
import {
	RECREATED,
	REPLACED,
	type ReplacedRecord,
} from "./departure-records.js";
import { HISTORY, type HistoryRecord } from "./history-record.js";
import type { Departure } from "./intent.js";
import { ALL_RUNS, type RunKeys } from "./keys.js";
import { LIVED, type LivedRecord } from "./lived-record.js";
import {
	decodeLeased,
	decodeRecord,
	garbled,
	informationAt,
	type Warn,
} from "./record-codec.js";
import {
	BUDGET,
	type BudgetRecord,
	FINISHED,
	NODE,
	type NodeRecord,
	ROUND,
	type RoundRecord,
	SEAT,
	type Seat,
} from "./records.js";
import { WAITING, type WaitingRecord } from "./waiting-record.js";

/** A live agent's record, and when it was created and last changed. */
export interface NodeView {
	readonly record: NodeRecord;
	readonly createRevision: number;
	readonly modRevision: number;
}

/** The whole run as the coordinator sees it at one revision. */
export interface RunView {
	readonly revision: number;
	readonly round: RoundRecord;
	readonly roundRevision: number;
	/** By node id. */
	readonly nodes: ReadonlyMap<string, NodeView>;
	readonly seats: ReadonlyMap<string, Seat>;
	/** Nodes that have finished the current plan. */
	readonly finished: ReadonlySet<string>;
	/** Nodes that finished an earlier plan and whose process has no seat in this one. */
	readonly done: ReadonlySet<string>;
	readonly budgets: ReadonlyMap<string, BudgetRecord>;
	readonly replaced?: ReadonlyMap<string, ReplacedRecord>;
	/** The processes that ended to be started again, by node id. */
	readonly recreated?: ReadonlyMap<string, string>;
	/** The processes that left in order or, as their guards have said, died; by node id. */
	readonly left?: ReadonlyMap<string, string>;
	/** Those of them that died. */
	readonly died?: ReadonlyMap<string, string>;
	/** The history line of the newest synced round, if it was read and exists. */
	readonly story: HistoryRecord | undefined;
	/** Members that were seen leaving, by incarnation, with their last record, if remembered. */
	readonly leavers?: ReadonlyMap<string, NodeRecord>;
	/** What users were told that the run waits for. */
	readonly waiting: WaitingRecord | undefined;
	/** Absent where nothing depends on how long the run has lived. */
	readonly lived?: LivedRecord | undefined;
}

const nodeOf = (entry: Entry): NodeView => ({
	record: decodeNode(entry),
	createRevision: entry.createRevision,
	modRevision: entry.modRevision,
});
const seatOf = (entry: Entry) => decodeRecord(SEAT, entry);
const finishedOf = (entry: Entry) => decodeRecord(FINISHED, entry);
const recreatedOf = (entry: Entry) => decodeRecord(RECREATED, entry);
const replacedOf = (entry: Entry) => decodeRecord(REPLACED, entry);
const budgetOf = (entry: Entry) => decodeRecord(BUDGET, entry);

/** @throws ElasticRunError RENDEZVOUS_FAILED if it is no record, has no lease or names another node than its key */
export function decodeNode(entry: Entry): NodeRecord {
	const record = decodeLeased(NODE, entry);
	if (entry.key.endsWith(`/${record.nodeId}`)) return record;
	throw garbled(entry, `it is of another node, ${record.nodeId}`);
}

/**
 * Reads a snapshot of a run's present keys; undefined if the run has no round yet.
 * @param warn receives unreadable records that only inform people
 * @throws ElasticRunError RENDEZVOUS_FAILED if anything else is unreadable
 */
export function readRunView(
	keys: RunKeys,
	snapshot: Snapshot,
	warn: Warn = () => {},
): RunView | undefined {
	const roundEntry = snapshot.entries.get(keys.round);
	if (roundEntry === undefined) return undefined;
	const round = decodeRecord(ROUND, roundEntry);
	const seats = mapBelow(snapshot, keys.seats, seatOf);
	const finished = [...mapBelow(snapshot, keys.finished, finishedOf)];
	const nodesOf = (chosen: typeof finished) =>
		new Set(chosen.map(([nodeId]) => nodeId));
	const nodes = mapBelow(snapshot, keys.nodes, nodeOf);
	const hasSeat = (nodeId: string) => {
		const seat = seats.get(nodeId);
		const isCurrent = seat && "planId" in seat && seat.planId === round.planId;
		// A node that was taken for dead may have finished, and have come back after its replacement was gone.
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
		budgets: mapBelow(snapshot, keys.budgets, budgetOf),
		replaced: mapBelow(snapshot, keys.replaced, replacedOf),
		recreated: processesBelow(snapshot, keys.recreated),
		left: processesBelow(snapshot, keys.left),
		died: processesBelow(snapshot, keys.left, ({ died }) => died === true),
		story: informationAt(HISTORY, snapshot, keys.historyOf(round.synced), warn),
		waiting: informationAt(WAITING, snapshot, keys.waiting, warn),
		lived: informationAt(LIVED, snapshot, keys.lived, warn),
	};
}

/** Names processes by node id. */
function processesBelow(
	snapshot: Snapshot,
	prefix: string,
	isMeant: (record: Infer<typeof RECREATED>) => boolean = () => true,
): ReadonlyMap<string, string> {
	return new Map(
		[...mapBelow(snapshot, prefix, recreatedOf)]
			.filter(([, record]) => isMeant(record))
			.map(([nodeId, { incarnation }]) => [nodeId, incarnation]),
	);
}

function mapBelow<Value>(
	{ entries }: Snapshot,
	prefix: string,
	read: (entry: Entry) => Value,
): ReadonlyMap<string, Value> {
	const values = new Map<string, Value>();
	for (const entry of sortedOut(entries).get(prefix) ?? []) {
		const nodeId = entry.key.slice(prefix.length);
		if (!NAME.test(nodeId)) {
			throw garbled(entry, `a node id is ${NAME_WORDS}`);
		}
		values.set(nodeId, read(entry));
	}
	return values;
}

const sorted = new WeakMap<
	Snapshot["entries"],
	ReadonlyMap<string, readonly Entry[]>
>();

/** The entries of a run by the part of its keys that they are in: a large job has thousands, which are gone through once. */
function sortedOut(
	entries: Snapshot["entries"],
): ReadonlyMap<string, readonly Entry[]> {
	const known = sorted.get(entries);
	if (known !== undefined) return known;
	const byPrefix = new Map<string, Entry[]>();
	for (const entry of entries.values()) {
		const ofRun = entry.key.indexOf("/", ALL_RUNS.length) + 1;
		const prefix = entry.key.slice(0, entry.key.indexOf("/", ofRun) + 1);
		const those = byPrefix.get(prefix);
		if (those === undefined) byPrefix.set(prefix, [entry]);
		else those.push(entry);
	}
	sorted.set(entries, byPrefix);
	return byPrefix;
}

/** An agent's view of its run: the round and this process's seat, if it has one. */
export interface RoundView {
	readonly round: RoundRecord;
	readonly seat: Seat | null;
	/** What the coordinator last said it waits for, if anything. */
	readonly waiting?: WaitingRecord | undefined;
	/** The plan that the store knows this process to have finished. */
	readonly finishedPlan?: string | null;
	/** What the store knows to follow when this process has left. */
	readonly departure?: Departure | undefined;
	/** The start of the run that this process has joined. */
	readonly joined?: number | undefined;
}
