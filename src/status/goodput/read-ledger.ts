import {
	type LedgerRecord,
	ledgerRecords,
	RunKeys,
	type Warn,
} from "../../rendezvous/index.js";
import type { Snapshot } from "../../store/index.js";
import type { RunHistory } from "../history.js";
import type { RunDocument } from "../run-document.js";
import type { Line, NodeAccount, Story } from "./node-ledger.js";

/** All that the ledger of the newest start of a run is computed from. */
export interface RunAccounts extends Story {
	readonly runId: string;
	readonly instance: number;
	/** When its first kept round began, in milliseconds since 1970. */
	readonly begunAt: number;
	/** When it ended; null if it goes on. */
	readonly endedAt: number | null;
	/** Until when its time is divided. */
	readonly until: number;
	readonly accounts: readonly NodeAccount[];
	/** The rounds of each kept start of the run, oldest first: all that tells how often it fails. */
	readonly starts: readonly (readonly Line[])[];
}

/**
 * @param wallTime milliseconds since 1970
 * @param warn receives each unreadable record
 */
export function readAccounts(
	run: RunDocument,
	history: RunHistory,
	snapshot: Snapshot,
	wallTime: number,
	warn: Warn = () => {},
): RunAccounts {
	const { runId, instance, outcome } = run;
	const told = history.instances.find((one) => one.instance === instance);
	const lines = told?.rounds ?? [];
	const begunAt = told?.begunAt ?? instance;
	const records = ledgerRecords(new RunKeys(runId), snapshot, warn).filter(
		(record) => record.instance === instance,
	);
	const endedAt = outcome?.endedAt ?? told?.endedAt ?? null;
	const there = run.nodes.filter(({ state }) => state !== "gone");
	const present = new Set(there.map(({ nodeId }) => nodeId));
	const members = new Set(lines.flatMap((line) => line.members));
	const nodes = byNode(records, members);
	const accounts = [...nodes].map(([nodeId, own]): NodeAccount => {
		const from = Math.max(begunAt, cameAt(nodeId, own, lines));
		const now = present.has(nodeId) ? toldUntil(own.at(-1), wallTime) : null;
		const to = goneAt(nodeId, own, lines, endedAt) ?? now ?? from;
		return { nodeId, records: own, from, to: Math.max(from, to) };
	});
	return {
		...{ runId, instance, begunAt, endedAt, lines, accounts },
		starts: history.instances.map(({ rounds }) => rounds),
		// Nodes end their workers after the end is known.
		until: Math.max(endedAt ?? begunAt, ...accounts.map(({ to }) => to)),
		root: outcome?.root ?? null,
		countsSteps: records.some(({ steps }) => steps !== null),
		stragglerMs: new Map(
			records.flatMap(({ round, stragglerMs }) =>
				stragglerMs === undefined ? [] : [[round, stragglerMs]],
			),
		),
	};
}

function byNode(
	records: readonly LedgerRecord[],
	members: ReadonlySet<string>,
): ReadonlyMap<string, readonly LedgerRecord[]> {
	const nodes = new Map<string, LedgerRecord[]>();
	for (const nodeId of members) nodes.set(nodeId, []);
	for (const record of records) {
		const own = nodes.get(record.nodeId);
		if (own === undefined) nodes.set(record.nodeId, [record]);
		else own.push(record);
	}
	return nodes;
}

/** When a node came to the run, as far as anybody has seen. */
function cameAt(
	nodeId: string,
	[first]: readonly LedgerRecord[],
	lines: readonly Line[],
): number {
	const joined = lines.find(({ members }) => members.includes(nodeId));
	return first?.arrivedAt ?? joined?.liftedAt ?? 0;
}

/** A node tells of its steps every ten seconds; a little more, as one step may take longer. */
const TELLS_WITHIN_MS = 15_000;

/** Until when the time of a node that is there is divided: what it will soon tell is not called unknown. */
export function toldUntil(
	last: LedgerRecord | undefined,
	wallTime: number,
): number {
	if (last === undefined || last.steps === null) return wallTime;
	const isOver = last.startedAt === null || last.ranUntil !== null;
	const isSoon = wallTime - last.writtenAt < TELLS_WITHIN_MS;
	return isSoon && !isOver ? Math.min(wallTime, last.writtenAt) : wallTime;
}

/** When a node's part in the run was over; null if it is not, as far as anybody has seen. */
function goneAt(
	nodeId: string,
	records: readonly LedgerRecord[],
	lines: readonly Line[],
	endedAt: number | null,
): number | null {
	const last = records.at(-1);
	const member = lines.findLast(({ members }) => members.includes(nodeId));
	const lastRound = Math.max(last?.round ?? 0, member?.round ?? 0);
	const missed = lines.find(
		({ round, left }) => round > lastRound && left.includes(nodeId),
	);
	const leftAt = last?.leftAt ?? missed?.begunAt ?? null;
	if (leftAt !== null && (endedAt === null || leftAt < endedAt)) return leftAt;
	// Workers may be ended after the run was.
	return endedAt && Math.max(endedAt, last?.stoppedAt ?? endedAt);
}
