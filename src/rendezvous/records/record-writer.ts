import type { Entry, Lease, Reader, Store, Write } from "../store/store.js";
import type { RunKeys } from "./keys.js";
import { encodeRecord } from "./record-codec.js";
import {
	type NodeFailure,
	type NodeRecord,
	type NodeState,
	type NoticeRecord,
	RECORD_VERSION,
	type Reached,
	type RoundRecord,
} from "./records.js";

/** How long an agent may end its workers before it says so, in milliseconds: usually it is ready by then. */
const STOPPING_MS = 200;
/** How long an agent may run before it says so, per seat of its round, in milliseconds. */
const RUNNING_MS_A_SEAT = 0.2;

/** The facts about an agent that stay the same while its process lives. */
export interface AgentIdentity {
	readonly nodeId: string;
	readonly incarnation: string;
	readonly hostId: string;
	readonly pid: number;
	readonly startTime: string;
	readonly address: string;
	readonly localWorldSize: number;
	readonly role: string;
	readonly nodeRank?: number | undefined;
}

/** The intended content of an agent's record. */
export interface Intent {
	readonly state: NodeState;
	readonly claim: number;
	readonly failure: NodeFailure | null;
	readonly fencedIn?: number | undefined;
	readonly cause: string | null;
	readonly awaitsWorkersMs?: number | undefined;
	readonly isAsked?: boolean | undefined;
	/** Why its machine will go; undefined if it stays. */
	readonly notice?: NoticeRecord | undefined;
	/** It is ready while its workers run on. */
	readonly runsOn?: boolean | undefined;
	/** The plan that it has finished; written together with state `finished`. */
	readonly finishedPlan: string | null;
	/** Its workers by local rank, if there are any; null: not started. */
	readonly pids: readonly (number | null)[];
	/** How far its workers came in the round that it has left; undefined if they count no steps, or still run. */
	readonly reached?: Reached | undefined;
	/** When it entered this state, in milliseconds since 1970. */
	readonly since: number;
	/** Until when its workers ran in the round that it has left; undefined if it has not run, or still runs. */
	readonly ranUntil?: number | undefined;
}

/** An intent without what the shell adds. */
export type NewIntent = Omit<Intent, "since" | "ranUntil" | "reached">;

export interface RecordWriterOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	readonly lease: Lease;
	readonly identity: AgentIdentity;
	/** Reserves a free port on this node, bound until its workers start. Rejects with a PassingError if it should be tried again. */
	readonly reservePort: (claim: number) => Promise<number>;
	/** This agent: reads back if its earlier read is outdated. */
	readonly own: Reader;
	/** The coordinator, if it is this agent: reads back what was written. */
	readonly planner: () => Reader | undefined;
}

/** The state of the run and the record when they were read, with later writes applied. */
interface Standing {
	readonly round: RoundRecord;
	readonly roundRevision: number;
	readonly present: Pick<Entry, "value" | "lease" | "modRevision"> | undefined;
}

/** Brings an agent's record to the intended content: writes the newest intent until it is stored. */
export class RecordWriter {
	private intent: Intent | null = null;
	private written: Intent | undefined;
	/** What guards the next write; undefined if it must be read first. */
	private standing: Standing | undefined;
	private reservedFor: { claim: number; port: number } | undefined;

	constructor(private readonly options: RecordWriterOptions) {}

	/** Whether the store has held this agent's record under this lease. */
	get hasWritten(): boolean {
		return this.written !== undefined;
	}

	/** The plan that the store knows this agent to have finished. */
	get finishedPlan(): string | null {
		return this.written?.finishedPlan ?? null;
	}

	/** Whether this agent is leaving the run. */
	get isLeaving(): boolean {
		return this.intent?.state === "leaving";
	}

	/** Replaces the previous intent; null: nothing more is to be written. */
	want(intent: Intent | null): void {
		this.intent = intent;
	}

	/** Takes note of what was read. */
	see(standing: Standing): void {
		this.standing = standing;
	}

	/**
	 * How long the intent may wait, in milliseconds. All agents know that a round is left, and none waits for the news that
	 * one more agent ends its workers or has started them. In a large job such writes would delay the others'.
	 */
	get patienceMs(): number {
		const { intent, written, standing } = this;
		if (!intent || !written || !standing) return 0;
		const { round } = standing;
		const isNews = intent.failure !== written.failure;
		if (intent.state === "stopping" && !isNews) {
			return round.deprecated >= round.synced ? STOPPING_MS : 0;
		}
		const isRunning =
			intent.state === "running" && intent.notice === written.notice;
		return isRunning ? Math.floor(round.seats * RUNNING_MS_A_SEAT) : 0;
	}

	/**
	 * Writes the intent, guarded by the revisions of the round and the record as read. So a stale reader claims no old
	 * round, and no process overwrites another's record. Resolves with whether a newer view is needed, to try again or to
	 * show that this agent is known to have finished.
	 */
	async write(): Promise<boolean> {
		if (this.intent === null) return false;
		if (this.standing === undefined) return true;
		const { intent, standing } = this;
		const { round, roundRevision, present } = standing;
		// A deleted record is written again.
		const isDone = intent === this.written && present !== undefined;
		if (isDone) return false;
		const hasFinished = intent.finishedPlan !== null;
		const { store, keys, lease, identity } = this.options;
		const key = keys.node(identity.nodeId);
		const value = encodeRecord(await this.recordFor(intent, round));
		// An earlier try of the same write may have succeeded although its answer was lost.
		if (present?.value === value && present.lease === lease.id) {
			this.written = intent;
			return hasFinished;
		}
		this.standing = undefined;
		// The first agent to leave a round finds it changed a moment later.
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
			ranUntil: intent.ranUntil,
			pids: intent.pids,
			reached: intent.reached,
			claim: intent.claim,
			failure: intent.failure,
			fencedIn: intent.fencedIn,
			cause: intent.cause,
			awaitsWorkersMs: intent.awaitsWorkersMs,
			isAsked: intent.isAsked,
			notice: intent.notice,
			runsOn: intent.runsOn,
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
