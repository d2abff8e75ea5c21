import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
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

export interface JoinRunOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly spec: RunSpec;
	readonly identity: AgentIdentity;
	readonly candidacy: Candidacy;
}

export type JoinedRun =
	| {
			readonly instance: number;
			/** What was seen up to here; a watch goes on from it. */
			readonly revision: number;
	  }
	/** Of a run that has just ended. */
	| { readonly outcome: Outcome };

/**
 * Finds the run, or begins it: the one who begins it also coordinates it.
 * @throws ElasticRunError RENDEZVOUS_FAILED where the node id is taken or the settings differ
 */
export async function joinRun(options: JoinRunOptions): Promise<JoinedRun> {
	const { store, clock, keys, spec, identity } = options;
	for (;;) {
		const snapshot = await store.snapshot([keys.prefix]);
		const specEntry = snapshot.entries.get(keys.spec);
		const beginning = beginRun(
			readRunView(keys, snapshot),
			specEntry && decodeRecord<RunSpec>(specEntry),
			spec,
			clock.wallTime(),
		);
		refuseTakenNodeId(
			snapshot.entries.get(keys.node(identity.nodeId)),
			identity,
		);
		if (beginning.kind === "late") return { outcome: beginning.outcome };
		if (beginning.kind === "begin") {
			await begin(snapshot, beginning.round, options);
			continue;
		}
		const { instance } = beginning;
		return { instance, revision: snapshot.revision };
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

function refuseTakenNodeId(
	entry: Entry | undefined,
	{ nodeId, incarnation }: AgentIdentity,
): void {
	if (entry === undefined) return;
	const holder = decodeRecord<NodeRecord>(entry);
	if (holder.incarnation === incarnation) return;
	throw new ElasticRunError(
		"RENDEZVOUS_FAILED",
		`node id ${nodeId} is taken by pid ${holder.pid} on host ${holder.hostId}; give this agent another --node-id`,
	);
}
