import { backOffMs, isUnreachable } from "../../base/back-off.js";
import type { Clock } from "../../base/clock.js";
import type {
	Compare,
	Entry,
	Lease,
	Reader,
	Snapshot,
	Store,
	Write,
} from "../../store/index.js";
import type { PlannerConfig } from "../planner/plan.js";
import type { RunKeys } from "../records/keys.js";
import { decodeLeased, encodeRecord } from "../records/record-codec.js";
import {
	COORDINATOR,
	type CoordinatorRecord,
	RECORD_VERSION,
	type RoundRecord,
	type Seat,
} from "../records/records.js";
import {
	type Coordinating,
	Coordinator,
	type CoordinatorOptions,
} from "./coordinator.js";

/** The longest wait of an agent without a seat before it becomes a candidate. */
const SPREAD_MS = 250;
/** How much longer each rank waits than the rank before it. */
const STAGGER_MS = 5;
/** How long a leaving agent waits: it becomes a candidate only if no other agent does. */
const LEAVING_MS = 1_000;

interface LeaderElectionOptions {
	readonly store: Store;
	readonly clock: Clock;
	readonly keys: RunKeys;
	/** The lease of this agent's record, so that record and coordinator key vanish in one revision. */
	readonly lease: Lease;
	readonly identity: CoordinatorOptions["identity"];
	readonly config: PlannerConfig;
	/** A number in [0, 1). */
	readonly random: () => number;
	readonly coordinating: Coordinating;
	readonly ride?: CoordinatorOptions["ride"];
	/** This agent, which reads back what is written here. */
	readonly own: Reader;
	/** Called if the outcome of a candidacy is unknown: read the store. */
	readonly onFailed: () => void;
	readonly onError: (error: unknown) => void;
}

/** An agent that may become the coordinator. */
export interface Candidate {
	readonly round: Pick<RoundRecord, "synced" | "outcome">;
	readonly seat: Seat | null;
	/** Whether it is leaving the run. */
	readonly isLeaving: boolean;
}

/**
 * Keeps the run coordinated: becomes a candidate while there is no coordinator, coordinates while elected, and stops when
 * another agent is. Agents with a seat wait in rank order, the others a random time, so that a thousand do not race.
 */
export class LeaderElection {
	private coordinator: Coordinator | undefined;
	private cancelStanding: (() => void) | undefined;
	/** How many candidacies in a row had an unknown outcome: a store may allow reads and refuse writes. */
	private failures = 0;
	private synced = 0;
	/** What was read back at its election, and the newest round known then. */
	private elected: { known: Snapshot; synced: number } | undefined;
	private closed = false;

	constructor(private readonly options: LeaderElectionOptions) {}

	/** Holds while there is no coordinator. */
	get guard(): Compare {
		return { key: this.options.keys.coordinator, createRevision: 0 };
	}

	/** Makes this agent the coordinator. */
	get write(): Write {
		const { keys, identity, lease } = this.options;
		const record: CoordinatorRecord = {
			version: RECORD_VERSION,
			nodeId: identity.nodeId,
			incarnation: identity.incarnation,
		};
		return {
			put: keys.coordinator,
			value: encodeRecord(record),
			lease: lease.id,
		};
	}

	/** Call it with the coordinator's key and the candidate after each read. */
	onLeaderSeen(entry: Entry | undefined, candidate: Candidate): void {
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
		const elected = decodeLeased(COORDINATOR, entry);
		const mine = elected.incarnation === this.options.identity.incarnation;
		// Its own key may be new as well: nothing more is written under the old token.
		const token = this.coordinator?.fencingToken;
		if (token?.createRevision !== entry.createRevision || !mine) {
			this.stepDown();
		}
		if (mine && this.coordinator === undefined) this.coordinate(entry);
	}

	/** It may plan again. */
	lookAgain(): void {
		this.coordinator?.start();
	}

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
			void this.campaign();
		});
	}

	/** The next read shows the outcome, whatever the answer says. */
	private async campaign(): Promise<void> {
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
			onError: (error) => {
				this.options.onError(error);
				void this.resign(entry);
			},
		});
		this.coordinator.start();
	}

	/** The next coordinator takes over at once, not only after this agent's workers have ended. */
	private async resign({ createRevision, value }: Entry): Promise<void> {
		const { store, keys } = this.options;
		const token = { key: keys.coordinator, createRevision, value };
		try {
			await store.transaction([token], [{ delete: keys.coordinator }]);
		} catch {
			// The key vanishes with the lease.
		}
	}
}
