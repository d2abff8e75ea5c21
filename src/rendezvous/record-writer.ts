import type { RunKeys } from "./keys.js";
import { encodeRecord } from "./record-codec.js";
import {
	type NodeFailure,
	type NodeRecord,
	type NodeState,
	RECORD_VERSION,
	type RoundRecord,
} from "./records.js";
import type { Entry, Lease, Reader, Store, Write } from "./store.js";

/** How long an agent may end its workers before it says so, in milliseconds: mostly it is ready by then. */
const STOPPING_MS = 200;
/** How long an agent may run before it says so, for each seat of its round, in milliseconds. */
const RUNNING_MS_A_SEAT = 0.2;

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

/** What an agent wants its record to say. */
export interface Intent {
	readonly state: NodeState;
	readonly claim: number;
	readonly failure: NodeFailure | null;
	readonly fencedIn?: number | undefined;
	readonly cause: string | null;
	readonly awaitsWorkersMs?: number | undefined;
	readonly isAsked?: boolean | undefined;
	/** The plan that it has done its part of; written together with state `finished`. */
	readonly finishedPlan: string | null;
	/** Its workers by local rank, while there are some; null: not started. */
	readonly pids: readonly (number | null)[];
	/** When it came to this state, in milliseconds since 1970. */
	readonly since: number;
}

export interface RecordWriterOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	readonly lease: Lease;
	readonly identity: AgentIdentity;
	/**
	 * Reserves a port that is free on this node, kept bound until its workers start.
	 * Rejects with a PassingError where it is to be tried again.
	 */
	readonly reservePort: (claim: number) => Promise<number>;
	/** The agent itself: reads back where what it read before is not so any more. */
	readonly own: Reader;
	/** The coordinator, where that is this agent: reads back what was written. */
	readonly planner: () => Reader | undefined;
}

/** Where the run and the record stood when they were read, or as what was written since has left them. */
interface Standing {
	readonly round: RoundRecord;
	readonly roundRevision: number;
	readonly present: Pick<Entry, "value" | "lease" | "modRevision"> | undefined;
}

/** Makes an agent's record say what the agent wants: the newest intent is written until it stands. */
export class RecordWriter {
	private intent: Intent | null = null;
	private written: Intent | undefined;
	/** What the next write is guarded by; undefined: that has to be read first. */
	private standing: Standing | undefined;
	private reservedFor: { claim: number; port: number } | undefined;

	constructor(private readonly options: RecordWriterOptions) {}

	/** Whether the store has held this agent's record under this lease. */
	get hasWritten(): boolean {
		return this.written !== undefined;
	}

	/** The plan of which the store has been told that this agent has done its part. */
	get finishedPlan(): string | null {
		return this.written?.finishedPlan ?? null;
	}

	/** Whether this agent is on its way out of the run. */
	get isLeaving(): boolean {
		return this.intent?.state === "leaving";
	}

	/** Replaces what was wanted before; null: nothing more is to be written. */
	want(intent: Intent | null): void {
		this.intent = intent;
	}

	/** Takes note of what was read. */
	see(standing: Standing): void {
		this.standing = standing;
	}

	/**
	 * How long what is wanted may wait, in milliseconds. Everybody knows that a
	 * round is left, and nobody waits to hear that one more agent ends its workers,
	 * or has started them: in a large job such words would keep the others' waiting.
	 */
	get patienceMs(): number {
		const { intent, written, standing } = this;
		if (!intent || !written || !standing) return 0;
		const { round } = standing;
		const isNews = intent.failure !== written.failure;
		if (intent.state === "stopping" && !isNews) {
			return round.deprecated >= round.synced ? STOPPING_MS : 0;
		}
		return intent.state === "running"
			? Math.floor(round.seats * RUNNING_MS_A_SEAT)
			: 0;
	}

	/**
	 * Writes what is wanted, guarded by the revisions of the round and of the record
	 * as they were read: neither a stale reader claims an old round, nor does one
	 * process write over another's record. Resolves with whether a newer view is
	 * needed, to try again or to show that this agent's part is known to be done.
	 */
	async write(): Promise<boolean> {
		if (this.intent === null) return false;
		if (this.standing === undefined) return true;
		const { intent, standing } = this;
		const { round, roundRevision, present } = standing;
		// A record that somebody has deleted is made again.
		const isDone = intent === this.written && present !== undefined;
		if (isDone) return false;
		const hasFinished = intent.finishedPlan !== null;
		const { store, keys, lease, identity } = this.options;
		const key = keys.node(identity.nodeId);
		const value = encodeRecord(await this.recordFor(intent, round));
		// An earlier try of the same write may have been made though its answer got lost.
		if (present?.value === value && present.lease === lease.id) {
			this.written = intent;
			return hasFinished;
		}
		this.standing = undefined;
		// Whoever leaves a round before the others do finds it changed the next moment.
		const isFirst =
			intent.claim > round.synced && round.deprecated < round.synced;
		const made =
			this.options.planner() ?? (hasFinished ? this.options.own : undefined);
		const refused = isFirst ? this.options.own : undefined;
		const { succeeded, revision, read } = await store.transaction(
			[
				{ key: keys.round, modRevision: roundRevision },
				{ key, modRevision: present?.modRevision ?? 0 },
			],
			this.writesFor(intent, value),
			{ made: made?.selectors, refused: refused?.selectors },
		);
		if (read !== undefined) (succeeded ? made : refused)?.take(read);
		if (!succeeded) return true;
		this.written = intent;
		const written = { value, lease: lease.id, modRevision: revision };
		this.standing = { ...standing, present: written };
		return hasFinished;
	}

	private async recordFor(
		intent: Intent,
		round: RoundRecord,
	): Promise<NodeRecord> {
		return {
			version: RECORD_VERSION,
			...this.options.identity,
			instance: round.instance,
			state: intent.state,
			since: intent.since,
			pids: intent.pids,
			claim: intent.claim,
			failure: intent.failure,
			fencedIn: intent.fencedIn,
			cause: intent.cause,
			awaitsWorkersMs: intent.awaitsWorkersMs,
			isAsked: intent.isAsked,
			masterPort: await this.portFor(intent.claim),
		};
	}

	private writesFor(intent: Intent, record: string): readonly Write[] {
		const { identity, keys, lease } = this.options;
		const node: Write = {
			put: keys.node(identity.nodeId),
			value: record,
			lease: lease.id,
		};
		if (intent.finishedPlan === null) return [node];
		const value = encodeRecord({
			version: RECORD_VERSION,
			planId: intent.finishedPlan,
		});
		return [node, { put: keys.finishedBy(identity.nodeId), value }];
	}

	private async portFor(claim: number): Promise<number> {
		if (this.reservedFor?.claim !== claim) {
			const port = await this.options.reservePort(claim);
			this.reservedFor = { claim, port };
		}
		return this.reservedFor.port;
	}
}
