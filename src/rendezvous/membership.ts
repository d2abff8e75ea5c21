import type { Clock } from "../clock.js";
import { Candidacy } from "./candidacy.js";
import { type JoinedRun, joinRun } from "./join-run.js";
import { RunKeys } from "./keys.js";
import {
	type AgentIdentity,
	type Intent,
	RecordWriter,
} from "./record-writer.js";
import {
	decodeRecord,
	type RoundRecord,
	type RunSpec,
	type Seat,
} from "./records.js";
import type { Lease, Store, Watch } from "./store.js";

/** What an agent sees of its run: the round and, where it is this process's, its seat. */
export interface RoundView {
	readonly round: RoundRecord;
	readonly seat: Seat | null;
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
	private writer: RecordWriter | undefined;
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
	async join(): Promise<JoinedRun> {
		const { store, spec } = this.options;
		const lease = await store.openLease(spec.leaseTtlMs, this.options.onLost);
		this.lease = lease;
		this.candidacy = this.openCandidacy(lease);
		this.writer = this.openWriter(lease);
		const joined = await joinRun({
			...this.options,
			keys: this.keys,
			candidacy: this.candidacy,
		});
		if ("revision" in joined) this.joinedAt = joined.revision;
		return joined;
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
		this.writer?.want(intent);
		this.look();
	}

	/** Gives up the lease: the record and the coordinator's key vanish at once. */
	async close(): Promise<void> {
		this.closed = true;
		this.watch?.close();
		this.candidacy?.close();
		await this.lease?.revoke();
	}

	private openWriter(lease: Lease): RecordWriter {
		const { store, identity, reservePort } = this.options;
		return new RecordWriter({
			store,
			keys: this.keys,
			lease,
			identity,
			reservePort,
		});
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
		if (await this.writer?.write(round, roundEntry.modRevision)) {
			this.lookAgain = true;
		}
		this.candidacy?.attend(
			snapshot.entries.get(keys.coordinator),
			mine,
			round.outcome !== null,
		);
	}
}
