import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import { pause } from "./back-off.js";
import { beginRun } from "./begin-run.js";
import type { Candidacy } from "./candidacy.js";
import type { RunKeys } from "./keys.js";
import type { AgentIdentity } from "./record-writer.js";
import {
	decodeRecord,
	encodeRecord,
	type NodeRecord,
	type Outcome,
	type RoundRecord,
	type RunSpec,
} from "./records.js";
import { readRunView } from "./run-view.js";
import type { Entry, Snapshot, Store } from "./store.js";

/** How much longer than its time to live a lease may be waited for, in milliseconds. */
const LEASE_GRACE_MS = 1_000;
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
}

export type JoinedRun =
	| { readonly instance: number }
	/** Of a run that has just ended. */
	| { readonly outcome: Outcome };

/**
 * Finds the run, or begins it: the one who begins it also coordinates it. A
 * record that a dead process of this node left behind is removed; one whose
 * process may live is waited for until its lease must have lapsed.
 * @throws ElasticRunError RENDEZVOUS_FAILED where the node id is taken or the settings differ
 */
export async function joinRun(options: JoinRunOptions): Promise<JoinedRun> {
	const { store, clock, keys, spec, identity, isDead } = options;
	const waitUntil = clock.now() + spec.leaseTtlMs + LEASE_GRACE_MS;
	for (;;) {
		const snapshot = await store.snapshot([keys.prefix]);
		const own = snapshot.entries.get(keys.node(identity.nodeId));
		const holder = own && holderOf(own, identity);
		if (own?.lease && holder !== undefined && isDead(holder)) {
			await store.endLease(own.lease);
			continue;
		}
		const specEntry = snapshot.entries.get(keys.spec);
		const beginning = beginRun(
			readRunView(keys, snapshot),
			specEntry && decodeRecord<RunSpec>(specEntry),
			spec,
			clock.wallTime(),
		);
		if (beginning.kind === "late") return { outcome: beginning.outcome };
		if (beginning.kind === "begin") {
			await begin(snapshot, beginning.round, options);
			continue;
		}
		if (holder === undefined) return { instance: beginning.instance };
		if (clock.now() >= waitUntil) throw takenBy(holder);
		await pause(clock, LOOK_FOR_NODE_ID_MS);
	}
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
	const leaderless = !entries.has(keys.coordinator);
	await store.transaction(
		[
			{
				key: keys.round,
				modRevision: entries.get(keys.round)?.modRevision ?? 0,
			},
			...(leaderless ? [candidacy.guard] : []),
		],
		[
			...(leaderless ? [candidacy.write] : []),
			...stale.map((key) => ({ delete: key })),
			{ put: keys.spec, value: encodeRecord(spec) },
			{ put: keys.round, value: encodeRecord(round) },
		],
	);
}

/** @throws ElasticRunError RENDEZVOUS_FAILED where another process has taken this agent's node id */
export function refuseForeign(entry: Entry, identity: AgentIdentity): void {
	const holder = holderOf(entry, identity);
	if (holder !== undefined) throw takenBy(holder);
}

/** The record of another process under this agent's node id. */
function holderOf(
	entry: Entry,
	{ incarnation }: AgentIdentity,
): NodeRecord | undefined {
	const record = decodeRecord<NodeRecord>(entry);
	return record.incarnation === incarnation ? undefined : record;
}

function takenBy(holder: NodeRecord): ElasticRunError {
	return new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`node id ${holder.nodeId} is taken by pid ${holder.pid} on host ${holder.hostId}; give this agent another --node-id`,
	);
}
