import type { Clock } from "../clock.js";
import { backOffMs, isUnreachable } from "./back-off.js";
import { Coordinator } from "./coordinator.js";
import type { RunKeys } from "./keys.js";
import type { PlannerConfig } from "./plan.js";
import { decodeRecord, encodeRecord } from "./record-codec.js";
import {
	type CoordinatorRecord,
	RECORD_VERSION,
	type RoundRecord,
	type Seat,
} from "./records.js";
import type {
	Compare,
	Entry,
	Lease,
	Reader,
	Snapshot,
	Store,
	Write,
} from "./store.js";

/** The longest that an agent without a seat waits before it stands. */
const SPREAD_MS = 250;
/** What each rank waits longer than the one before it. */
const STAGGER_MS = 5;
/** What an agent waits that is leaving the run: it stands only where nobody else does. */
const LEAVING_MS = 1_000;

export interface CandidacyOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	/** The lease of this agent's record, so that both vanish in one revision. */
	readonly lease: Lease;
	readonly nodeId: string;
	readonly incarnation: string;
	readonly config: PlannerConfig;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** Writes that one transaction of a coordinator may hold: see `CoordinatorOptions`. */
	readonly batchSize?: number | undefined;
	/** The agent itself, which reads back what is written here. */
	readonly own: Reader;
	/** Nobody knows whether it has stood: time to look. */
	readonly onFailed: () => void;
	readonly onReason: (reason: string) => void;
	readonly onError: (error: unknown) => void;
}

/** What is known of an agent that may have to coordinate. */
export interface Candidate {
	readonly round: Pick<RoundRecord, "synced" | "outcome">;
	/** This process's own. */
	readonly seat: Seat | null;
	/** Whether it is on its way out of the run. */
	readonly isLeaving: boolean;
}

/**
 * Sees to it that somebody coordinates: stands while nobody does, coordinates
 * while elected, leaves off when another is. Seated agents stand in rank order,
 * the others after a random delay, so that a thousand do not race.
 */
export class Candidacy {
	private coordinator: Coordinator | undefined;
	private cancelStanding: (() => void) | undefined;
	/** How often in a row nobody knows whether it has stood: a store may be read and take no writes. */
	private failures = 0;
	/** The newest round that it was told of. */
	private synced = 0;
	/** What was read back when it was elected, and the newest round then known of. */
	private elected: { known: Snapshot; synced: number } | undefined;
	private closed = false;

	constructor(private readonly options: CandidacyOptions) {}

	/** Holds while nobody coordinates. */
	get guard(): Compare {
		return { key: this.options.keys.coordinator, createRevision: 0 };
	}

	/** Makes this agent the coordinator. */
	get write(): Write {
		const { keys, nodeId, incarnation, lease } = this.options;
		const record: CoordinatorRecord = {
			version: RECORD_VERSION,
			nodeId,
			incarnation,
		};
		return {
			put: keys.coordinator,
			value: encodeRecord(record),
			lease: lease.id,
		};
	}

	/** To be called with the coordinator's key and the rest whenever they were read. */
	attend(entry: Entry | undefined, candidate: Candidate): void {
		const { synced, outcome } = candidate.round;
		this.synced = synced;
		if (entry === undefined) {
			this.stepDown();
			if (outcome === null) this.standAfter(this.delayOf(candidate));
			return;
		}
		this.cancelStanding?.();
		this.cancelStanding = undefined;
		this.failures = 0;
		const elected = decodeRecord<CoordinatorRecord>(entry);
		const mine = elected.incarnation === this.options.incarnation;
		// Also its own key may be a new one: under the old token nothing is written any more.
		const token = this.coordinator?.fencingToken;
		if (token?.createRevision !== entry.createRevision || !mine) {
			this.stepDown();
		}
		if (mine && this.coordinator === undefined) this.coordinate(entry);
	}

	/** The coordinator's, where this agent is it. */
	get reader(): Reader | undefined {
		return this.coordinator?.reader;
	}

	close(): void {
		this.closed = true;
		this.cancelStanding?.();
		this.stepDown();
	}

	private stepDown(): void {
		this.coordinator?.close();
		this.coordinator = undefined;
	}

	private delayOf(candidate: Candidate): number {
		const { random } = this.options;
		const turnMs = this.turnOf(candidate);
		return this.failures === 0
			? turnMs
			: turnMs + backOffMs(this.failures, random());
	}

	private turnOf({ seat, isLeaving }: Candidate): number {
		if (isLeaving) return LEAVING_MS;
		return seat !== null && "planId" in seat
			? seat.groupRank * STAGGER_MS
			: this.options.random() * SPREAD_MS;
	}

	private standAfter(delayMs: number): void {
		if (this.cancelStanding !== undefined) return;
		const { clock } = this.options;
		this.cancelStanding = clock.wakeAt(clock.now() + delayMs, () => {
			this.cancelStanding = undefined;
			void this.stand();
		});
	}

	/** Whatever comes of it, or of its answer, is seen in what is read. */
	private async stand(): Promise<void> {
		if (this.closed) return;
		const { store, keys, own, onFailed, onError } = this.options;
		try {
			const synced = this.synced;
			const made = keys.coordinating(synced);
			const { read, succeeded } = await store.transaction(
				[this.guard],
				[this.write],
				{ made, refused: own.selectors },
			);
			if (read !== undefined) {
				if (succeeded) this.elected = { known: read, synced };
				return own.take(read);
			}
		} catch (error) {
			if (!isUnreachable(error)) onError(error);
			this.failures += 1;
		}
		onFailed();
	}

	private coordinate(entry: Entry): void {
		const term = this.elected;
		this.elected = undefined;
		const elected = term?.known.entries.get(entry.key);
		const isOfTerm = elected?.createRevision === entry.createRevision;
		this.coordinator = new Coordinator({
			...this.options,
			synced: this.synced,
			...(isOfTerm ? term : {}),
			fencingToken: entry,
		});
		this.coordinator.start();
	}
}
