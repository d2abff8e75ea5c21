import type { Clock } from "../clock.js";
import { pause } from "./back-off.js";
import { beginRun } from "./begin-run.js";
import type { Candidacy } from "./candidacy.js";
import type { RunKeys } from "./keys.js";
import { holderOf, takenBy } from "./node-id-holder.js";
import { encodeRecord, recordAt } from "./record-codec.js";
import type { AgentIdentity } from "./record-writer.js";
import {
	type NodeRecord,
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
	type RunSpec,
} from "./records.js";
import { readRunView } from "./run-view.js";
import type { Compare, Entry, Lease, Snapshot, Store, Write } from "./store.js";

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
			else await begin(snapshot, beginning.round, options, holder);
			continue;
		}
		const { instance } = beginning;
		if (holder === undefined) {
			// Where nobody coordinates, perhaps nobody else lives: who comes next must not take the run for dead.
			const isFirst = !snapshot.entries.has(keys.coordinator);
			const mustReserve =
				isLeftBehind ||
				(own === undefined && (options.isNodeIdTentative || isFirst));
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

/**
 * Begins the run, and makes this agent's record in the same transaction: who comes next finds
 * somebody alive, whose settings are the run's. While another process holds the node id, there can be none.
 */
async function begin(
	snapshot: Snapshot,
	round: RoundRecord,
	options: JoinRunOptions,
	holder: NodeRecord | undefined,
): Promise<void> {
	const { store, keys, spec, candidacy } = options;
	const { entries } = snapshot;
	const own = holder ? [] : [ownRecord(snapshot, round.instance, options)];
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
		...own.map(({ guard }) => guard),
	];
	// Nobody of that start lives, and nobody will read them any more.
	while (deletions.length > BATCH_SIZE) {
		const batch = deletions.splice(0, BATCH_SIZE);
		if (!(await store.transaction(guards, batch)).succeeded) return;
	}
	await store.transaction(guards, [
		...(leaderless ? [candidacy.write] : []),
		...deletions,
		...own.map(({ write }) => write),
		{ put: keys.spec, value: encodeRecord(spec) },
		{ put: keys.round, value: encodeRecord(round) },
	]);
}

/** Returns whether the record was made: what is there is still what was read, of this node and of the run. */
async function reserve(
	snapshot: Snapshot,
	instance: number,
	options: JoinRunOptions,
): Promise<boolean> {
	const { store, keys } = options;
	const modRevision = snapshot.entries.get(keys.round)?.modRevision ?? 0;
	const { guard, write } = ownRecord(snapshot, instance, options);
	const guards = [guard, { key: keys.round, modRevision }];
	return (await store.transaction(guards, [write])).succeeded;
}

/** The record of an agent that has nothing to say yet, in the place of what was read under its node id. */
function ownRecord(
	{ entries }: Snapshot,
	instance: number,
	{ clock, keys, identity, lease }: JoinRunOptions,
): { readonly guard: Compare; readonly write: Write } {
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
	return {
		guard: { key, modRevision: entries.get(key)?.modRevision ?? 0 },
		write: { put: key, value: encodeRecord(record), lease: lease.id },
	};
}
