import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import { pause } from "./back-off.js";
import { beginRun } from "./begin-run.js";
import type { Candidacy } from "./candidacy.js";
import type { RunKeys } from "./keys.js";
import { decodeRecord, encodeRecord, recordAt } from "./record-codec.js";
import type { AgentIdentity } from "./record-writer.js";
import {
	type NodeRecord,
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
	type RunSpec,
} from "./records.js";
import { readRunView } from "./run-view.js";
import type { Entry, Lease, Snapshot, Store } from "./store.js";

/** How much longer than its time to live a lease may be waited for, in milliseconds. */
const LEASE_GRACE_MS = 1_000;
/** Deletions of one transaction, of whose 128 operations others need some. */
const BATCH_SIZE = 100;
/** How often is looked whether a node id has become free, in milliseconds. */
const LOOK_FOR_NODE_ID_MS = 250;

export interface JoinRunOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly spec: RunSpec;
	readonly identity: AgentIdentity;
	/** Whether the process that wrote this record is certainly gone. */
	readonly isDead: (holder: NodeRecord) => boolean;
	readonly candidacy: Candidacy;
	/** Of this agent's record. */
	readonly lease: Lease;
	/**
	 * Whether the node id may be exchanged for another one: it is then reserved
	 * at once by a record, so that of two agents that choose it together one
	 * gets it, and a living holder is not waited for.
	 */
	readonly isNodeIdTentative?: boolean | undefined;
}

export type JoinedRun =
	| { readonly instance: number }
	/** Of a run that has just ended, and where it stood. */
	| { readonly outcome: Outcome; readonly round: RoundRecord }
	/** Who has the tentative node id. */
	| { readonly holder: NodeRecord };

/**
 * Finds the run, or begins it: the one who begins it also coordinates it. A
 * record that a dead process of this node left behind is replaced by this one's,
 * and so never missing: the others of the run wait for this process. One whose
 * process may live is waited for until its lease must have lapsed; a tentative
 * node id is given up instead.
 * @throws ElasticRunError RENDEZVOUS_FAILED where the node id is taken or the settings differ
 */
export async function joinRun(options: JoinRunOptions): Promise<JoinedRun> {
	const { store, clock, keys, spec, identity, isDead, lease } = options;
	// A store may grant more than was asked for, to the holder as to this agent.
	const ttlMs = Math.max(spec.leaseTtlMs, lease.ttlMs);
	const waitUntil = clock.now() + ttlMs + LEASE_GRACE_MS;
	const ownKey = keys.node(identity.nodeId);
	const little = [keys.round, keys.coordinator, keys.spec, ownKey];
	let seesAll = false;
	for (;;) {
		const snapshot = await store.snapshot(seesAll ? keys.present : little);
		const own = snapshot.entries.get(ownKey);
		const found = own && holderOf(own, identity);
		const isLeftBehind = found !== undefined && isDead(found);
		const holder = isLeftBehind ? undefined : found;
		const beginning = beginRun(
			readRunView(keys, holder ? snapshot : without(snapshot, own)),
			recordAt<RunSpec>(snapshot, keys.spec),
			spec,
			clock.wallTime(),
		);
		// Who else lives matters only where nobody may: what may be much is not read by everyone.
		seesAll = beginning.kind === "begin" && !seesAll;
		if (seesAll) continue;
		if (beginning.kind === "late") {
			const { outcome, round } = beginning;
			return { outcome, round };
		}
		if (beginning.kind === "begin") {
			if (isLeftBehind && own?.lease) await store.endLease(own.lease);
			else await begin(snapshot, beginning.round, options);
			continue;
		}
		const { instance } = beginning;
		if (holder === undefined) {
			const mustReserve =
				isLeftBehind || (options.isNodeIdTentative && own === undefined);
			if (mustReserve && !(await reserve(snapshot, instance, options)))
				continue;
			if (isLeftBehind && own?.lease) await store.endLease(own.lease);
			return { instance };
		}
		if (options.isNodeIdTentative) return { holder };
		if (clock.now() >= waitUntil) throw takenBy(holder, identity);
		await pause(clock, LOOK_FOR_NODE_ID_MS);
	}
}

/** What is there besides an entry: a record of this process, or of its predecessor, makes no living run. */
function without(snapshot: Snapshot, entry: Entry | undefined): Snapshot {
	const entries = new Map(snapshot.entries);
	if (entry !== undefined) entries.delete(entry.key);
	return { ...snapshot, entries };
}

async function begin(
	snapshot: Snapshot,
	round: RoundRecord,
	{ store, keys, spec, candidacy }: JoinRunOptions,
): Promise<void> {
	const { entries } = snapshot;
	const stale = [...entries.keys()].filter((key) =>
		[keys.seats, keys.finished, keys.budgets].some((prefix) =>
			key.startsWith(prefix),
		),
	);
	const deletions = stale.map((key) => ({ delete: key }));
	const leaderless = !entries.has(keys.coordinator);
	const guards = [
		{
			key: keys.round,
			modRevision: entries.get(keys.round)?.modRevision ?? 0,
		},
		...(leaderless ? [candidacy.guard] : []),
	];
	// Nobody of that start lives, and nobody will read them any more.
	while (deletions.length > BATCH_SIZE) {
		const batch = deletions.splice(0, BATCH_SIZE);
		if (!(await store.transaction(guards, batch)).succeeded) return;
	}
	await store.transaction(guards, [
		...(leaderless ? [candidacy.write] : []),
		...deletions,
		{ put: keys.spec, value: encodeRecord(spec) },
		{ put: keys.round, value: encodeRecord(round) },
	]);
}

/** Returns whether the record was made: what is there is still what was read, of this node and of the run. */
async function reserve(
	{ entries }: Snapshot,
	instance: number,
	{ store, clock, keys, identity, lease }: JoinRunOptions,
): Promise<boolean> {
	const record: NodeRecord = {
		version: RECORD_VERSION,
		...identity,
		instance,
		state: "joining",
		since: clock.wallTime(),
		pids: [],
		claim: 0,
		failure: null,
		cause: null,
		masterPort: 0,
	};
	const key = keys.node(identity.nodeId);
	const { succeeded } = await store.transaction(
		[
			{ key, modRevision: entries.get(key)?.modRevision ?? 0 },
			{
				key: keys.round,
				modRevision: entries.get(keys.round)?.modRevision ?? 0,
			},
		],
		[{ put: key, value: encodeRecord(record), lease: lease.id }],
	);
	return succeeded;
}

/** @throws ElasticRunError RENDEZVOUS_FAILED where another process has taken this agent's node id */
export function refuseForeign(entry: Entry, identity: AgentIdentity): void {
	const holder = holderOf(entry, identity);
	if (holder !== undefined) throw takenBy(holder, identity);
}

/** The record of another process under this agent's node id. */
function holderOf(
	entry: Entry,
	{ incarnation }: AgentIdentity,
): NodeRecord | undefined {
	const record = decodeRecord<NodeRecord>(entry);
	return record.incarnation === incarnation ? undefined : record;
}

function takenBy(holder: NodeRecord, own: AgentIdentity): ElasticRunError {
	const isHere = holder.hostId === own.hostId && own.hostId !== "";
	const where = isHere ? "this machine" : `the machine at ${holder.address}`;
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`node id ${holder.nodeId} is taken by pid ${holder.pid} on ${where}; give this agent another --node-id`,
	);
}
