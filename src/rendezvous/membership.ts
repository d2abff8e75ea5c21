import type { Clock } from "../clock.js";
import { ElasticRunError } from "../errors.js";
import { beginRun } from "./begin-run.js";
import { Candidacy } from "./candidacy.js";
import { RunKeys } from "./keys.js";
import {
	decodeRecord,
	encodeRecord,
	type NodeFailure,
	type NodeRecord,
	type NodeState,
	type Outcome,
	RECORD_VERSION,
	type RoundRecord,
	type RunSpec,
	type Seat,
} from "./records.js";
import { readRunView } from "./run-view.js";
import type { Lease, Snapshot, Store, Watch, Write } from "./store.js";

/** What never changes of an agent while its process lives. */
export interface AgentIdentity {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly hostId: string;
	readonly pid: number;
	readonly startTime: string;
	readonly address: string;
	readonly localWorldSize: number;
	readonly role: string;
}

/** What an agent sees of its run: the round and, where it is this process's, its seat. */
export interface RoundView {
	readonly round: RoundRecord;
	readonly seat: Seat | null;
}

/** What an agent wants its record to say. */
export interface Intent {
	readonly state: NodeState;
	readonly claim: number;
	readonly failure: NodeFailure | null;
	readonly cause: string | null;
	/** The plan that it has done its part of; written together with state `finished`. */
	readonly finishedPlan: string | null;
}

export interface MembershipOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly runId: string;
	readonly identity: AgentIdentity;
	readonly spec: RunSpec;
	/** Reserves a port that is free on this node, kept bound until its workers start. */
	readonly reservePort: (claim: number) => Promise<number>;
	/** A number in [0, 1), by which agents without a seat spread their standing for coordinator. */
	readonly random: () => number;
	readonly onView: (view: RoundView) => void;
	readonly onLost: (reason: string) => void;
	readonly onError: (error: unknown) => void;
	/** Told what the coordinator decides or waits for, where it is this agent. */
	readonly onPlanReason: (reason: string) => void;
}

/**
 * One agent's part in its run: its lease, its record, what it watches, and the
 * coordinator where it is elected. Level-based: a hint means only that all is
 * read again, and the newest intent is written until it stands.
 */
export class Membership {
	private readonly keys: RunKeys;
	private lease: Lease | undefined;
	private watch: Watch | undefined;
	private candidacy: Candidacy | undefined;
	private intent: Intent | undefined;
	private written: Intent | undefined;
	private reservedFor: { claim: number; port: number } | undefined;
	private joinedAt = 0;
	private looking = false;
	private lookAgain = false;
	private closed = false;

	constructor(private readonly options: MembershipOptions) {
		this.keys = new RunKeys(options.runId);
	}

	/**
	 * Opens a lease and finds or begins the run. Resolves with its instance, or
	 * with the outcome of a run that has just ended. Nothing is shown of it yet.
	 */
	async join(): Promise<{ instance: number } | { outcome: Outcome }> {
		const { store, spec } = this.options;
		this.lease = await store.openLease(spec.leaseTtlMs, this.options.onLost);
		const candidacy = this.openCandidacy(this.lease);
		this.candidacy = candidacy;
		for (;;) {
			const snapshot = await store.snapshot([this.keys.prefix]);
			const beginning = beginRun(
				readRunView(this.keys, snapshot),
				this.specIn(snapshot),
				spec,
				this.options.clock.wallTime(),
			);
			this.refuseTakenNodeId(snapshot);
			if (beginning.kind === "late") return { outcome: beginning.outcome };
			if (beginning.kind === "begin") {
				await this.begin(snapshot, beginning.round, candidacy);
				continue;
			}
			const round = snapshot.entries.get(this.keys.round);
			if (round === undefined) continue;
			this.joinedAt = snapshot.revision;
			return { instance: decodeRecord<RoundRecord>(round).instance };
		}
	}

	/** From now on `onView` is told what is there, and each change of it. */
	start(): void {
		const { keys } = this;
		this.watch = this.options.store.watch(
			[keys.round, keys.coordinator, keys.seat(this.options.identity.nodeId)],
			this.joinedAt,
			() => this.look(),
		);
		this.look();
	}

	/** Makes the record say this, now or as soon as it can be; a later intent replaces it. */
	publish(intent: Intent): void {
		this.intent = intent;
		this.look();
	}

	/** Gives up the lease: the record and the coordinator's key vanish at once. */
	async close(): Promise<void> {
		this.closed = true;
		this.watch?.close();
		this.candidacy?.close();
		await this.lease?.revoke();
	}

	private openCandidacy(lease: Lease): Candidacy {
		const { store, clock, spec, identity, random } = this.options;
		return new Candidacy({
			store,
			clock,
			keys: this.keys,
			lease,
			nodeId: identity.nodeId,
			incarnation: identity.incarnation,
			config: spec,
			random,
			onStood: () => this.look(),
			onReason: this.options.onPlanReason,
			onError: (error) => this.report(error),
		});
	}

	/** Begins an instance, and coordinates it where nobody else does. */
	private async begin(
		snapshot: Snapshot,
		round: RoundRecord,
		candidacy: Candidacy,
	): Promise<void> {
		const { keys } = this;
		const stale = [...snapshot.entries.keys()].filter((key) =>
			[keys.seats, keys.finished, keys.budgets].some((prefix) =>
				key.startsWith(prefix),
			),
		);
		const leaderless = !snapshot.entries.has(keys.coordinator);
		await this.options.store.transaction(
			[
				{ key: keys.round, modRevision: modRevision(snapshot, keys.round) },
				...(leaderless ? [candidacy.guard] : []),
			],
			[
				...(leaderless ? [candidacy.write] : []),
				...stale.map((key) => ({ delete: key })),
				{ put: keys.spec, value: encodeRecord(this.options.spec) },
				{ put: keys.round, value: encodeRecord(round) },
			],
		);
	}

	private specIn(snapshot: Snapshot): RunSpec | undefined {
		const entry = snapshot.entries.get(this.keys.spec);
		return entry === undefined ? undefined : decodeRecord<RunSpec>(entry);
	}

	private refuseTakenNodeId(snapshot: Snapshot): void {
		const { nodeId, incarnation } = this.options.identity;
		const entry = snapshot.entries.get(this.keys.node(nodeId));
		if (entry === undefined) return;
		const holder = decodeRecord<NodeRecord>(entry);
		if (holder.incarnation === incarnation) return;
		throw new ElasticRunError(
			"RENDEZVOUS_FAILED",
			`node id ${nodeId} is taken by pid ${holder.pid} on host ${holder.hostId}; give this agent another --node-id`,
		);
	}

	private look(): void {
		this.lookAgain = true;
		if (this.looking || this.closed) return;
		this.looking = true;
		this.lookWhileHinted()
			.catch((error) => this.report(error))
			.finally(() => {
				this.looking = false;
				if (this.lookAgain) this.look();
			});
	}

	private report(error: unknown): void {
		if (!this.closed) this.options.onError(error);
	}

	private async lookWhileHinted(): Promise<void> {
		while (this.lookAgain && !this.closed) {
			this.lookAgain = false;
			await this.lookOnce();
		}
	}

	private async lookOnce(): Promise<void> {
		const { nodeId, incarnation } = this.options.identity;
		const { keys } = this;
		const snapshot = await this.options.store.snapshot([
			keys.round,
			keys.coordinator,
			keys.seat(nodeId),
		]);
		const roundEntry = snapshot.entries.get(keys.round);
		if (this.closed || roundEntry === undefined) return;
		const round = decodeRecord<RoundRecord>(roundEntry);
		const seatEntry = snapshot.entries.get(keys.seat(nodeId));
		const seat = seatEntry && decodeRecord<Seat>(seatEntry);
		const mine = seat?.incarnation === incarnation ? seat : null;
		this.options.onView({ round, seat: mine });
		await this.writeIntent(round, roundEntry.modRevision);
		this.candidacy?.attend(
			snapshot.entries.get(keys.coordinator),
			mine,
			round.outcome !== null,
		);
	}

	/** Guarded by the round's revision, so that a stale reader cannot claim an old round. */
	private async writeIntent(
		round: RoundRecord,
		roundRevision: number,
	): Promise<void> {
		const { intent, lease } = this;
		if (intent === undefined || intent === this.written || !lease) return;
		const { identity, store } = this.options;
		const record: NodeRecord = {
			version: RECORD_VERSION,
			...identity,
			instance: round.instance,
			state: intent.state,
			claim: intent.claim,
			failure: intent.failure,
			cause: intent.cause,
			masterPort: await this.portFor(intent.claim),
		};
		const writes: Write[] = [
			{
				put: this.keys.node(identity.nodeId),
				value: encodeRecord(record),
				lease: lease.id,
			},
		];
		if (intent.finishedPlan !== null) {
			writes.push({
				put: this.keys.finishedBy(identity.nodeId),
				value: encodeRecord({
					version: RECORD_VERSION,
					planId: intent.finishedPlan,
				}),
			});
		}
		const { succeeded } = await store.transaction(
			[{ key: this.keys.round, modRevision: roundRevision }],
			writes,
		);
		if (succeeded) this.written = intent;
		if (this.intent !== this.written) this.lookAgain = true;
	}

	private async portFor(claim: number): Promise<number> {
		if (this.reservedFor?.claim !== claim) {
			const port = await this.options.reservePort(claim);
			this.reservedFor = { claim, port };
		}
		return this.reservedFor.port;
	}
}

function modRevision(snapshot: Snapshot, key: string): number {
	return snapshot.entries.get(key)?.modRevision ?? 0;
}
