import type { Clock } from "../../base/clock.js";
import type {
	Compare,
	Entry,
	Lease,
	LeaseId,
	Reader,
	Snapshot,
	Store,
	Write,
} from "../../store/index.js";
import type { AgentIdentity, Departure, Intent } from "./intent.js";
import type { RunKeys } from "./keys.js";
import { encodeRecord } from "./record-codec.js";
import {
	type NodeRecord,
	RECORD_VERSION,
	type RoundRecord,
} from "./records.js";
import { commandWrite, type OwnCommand } from "./run-spec.js";

/** How long an agent may end its workers before it says so, in milliseconds: usually it is ready by then. */
const STOPPING_MS = 200;
/** How long an agent may run before it says so, per seat of its round, in milliseconds. */
const RUNNING_MS_A_SEAT = 0.2;

/**
 * The port of a claim, in this start of the run.
 * @throws PassingError if it should be tried again
 */
export type ReservePort = (
	claim: number,
	nodeId: string,
	instance: number,
) => Promise<number>;

/** An agent's record, and what must still hold when it is written: the revisions of the round and of the record before it. */
export interface GuardedRecord {
	readonly record: NodeRecord;
	readonly lease: LeaseId;
	readonly round: number;
	readonly present: number;
	/** Of the round. */
	readonly seats: number;
}

/** Resolves with the revision of the write; undefined: it is to be made without the relay. */
export interface Relay {
	write(own: GuardedRecord): Promise<number | undefined>;
}

interface RecordWriterOptions {
	readonly store: Store;
	readonly keys: RunKeys;
	readonly lease: Lease;
	readonly identity: AgentIdentity;
	/** Reserves a free port on this node, bound until its workers start. */
	readonly reservePort: ReservePort;
	/** This agent: reads back if its earlier read is outdated. */
	readonly own: Reader;
	/** The coordinator, if it is this agent: reads back what was written. */
	readonly planner: () => Reader | undefined;
	/** Another way to write, where nothing is to be read back. */
	readonly relay?: Relay | undefined;
	/** Called with each record that it has written. */
	readonly onWritten?: ((record: Entry) => void) | undefined;
}

/** The state of the run and the record when they were read, with later writes applied. */
interface Standing {
	readonly round: RoundRecord;
	readonly roundRevision: number;
	readonly present: Omit<Entry, "key"> | undefined;
}

/** Brings an agent's record to the intended content: writes the newest intent until it is stored. */
export class RecordWriter {
	private intent: Intent | null = null;
	private written: Intent | undefined;
	/** The revision of the record with the written intent. */
	private writtenAt = 0;
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

	/** What the store knows to follow when this agent has left. */
	get departure(): Departure | undefined {
		return this.written?.departure;
	}

	/** Whether it knows what the store holds under its key. */
	get isSure(): boolean {
		return this.standing !== undefined;
	}

	/** Whether this agent is leaving the run. */
	get isLeaving(): boolean {
		return this.intent?.state === "leaving";
	}

	/** The same, where the store does not know it. */
	get leavesUnsaid(): boolean {
		return this.isLeaving && this.written?.state !== "leaving";
	}

	/** Replaces the previous intent; null: nothing more is to be written. */
	want(intent: Intent | null): void {
		this.intent = intent;
	}

	/** Takes note of what was read. */
	see(standing: Standing): void {
		this.standing = standing;
	}

	/** How long the intent may wait, in milliseconds. */
	get patienceMs(): number {
		const { intent, written, standing } = this;
		if (!intent || !written || !standing) return 0;
		return writePatienceMs(intent, written, standing.round);
	}

	/**
	 * Writes the intent, guarded by the revisions of the round and the record as read. So a stale reader claims no old
	 * round, and no process overwrites another's record. Resolves with whether a newer view is needed, to try again or to
	 * show that this agent is known to have finished, or what follows its leaving.
	 */
	async write(): Promise<boolean> {
		if (this.intent === null) return false;
		if (this.standing === undefined) return true;
		const { intent, standing } = this;
		const { round, roundRevision, present } = standing;
		// A record that is deleted, or is not what was written, is written again.
		const isAsWritten = present?.modRevision === this.writtenAt;
		if (intent === this.written && isAsWritten) return false;
		const mustBeKnown =
			intent.finishedPlan !== null || intent.departure !== undefined;
		const { store, keys, lease, identity } = this.options;
		const key = keys.node(identity.nodeId);
		const record = await this.recordFor(intent, round);
		const value = encodeRecord(record);
		// An earlier try of the same write may have succeeded although its answer was lost.
		if (present?.value === value && present.lease === lease.id) {
			this.written = intent;
			this.writtenAt = present.modRevision;
			return mustBeKnown;
		}
		this.standing = undefined;
		// The first agent to leave a round finds it changed a moment later.
		const isFirst =
			intent.claim > round.synced && round.deprecated < round.synced;
		const made =
			this.options.planner() ?? (mustBeKnown ? this.options.own : undefined);
		const refused = isFirst ? this.options.own : undefined;
		const guards = {
			round: roundRevision,
			present: present?.modRevision ?? 0,
			seats: round.seats,
		};
		const writes = intentWrites(intent, value, this.options);
		const isPlain = present && this.hasWritten && writes.length === 1;
		const relay = isPlain && !made && !refused ? this.options.relay : undefined;
		const relayed =
			relay && (await relay.write({ record, lease: lease.id, ...guards }));
		const { succeeded, revision, read } = relayed
			? { succeeded: true, revision: relayed }
			: await store.transaction(
					[
						{ key: keys.round, modRevision: guards.round },
						{ key, modRevision: guards.present },
					],
					writes,
					{ made: made?.selectors, refused: refused?.selectors },
				);
		if (read !== undefined) (succeeded ? made : refused)?.take(read);
		if (!succeeded) return true;
		this.written = intent;
		this.writtenAt = revision;
		const createRevision = present?.createRevision ?? revision;
		const modRevision = revision;
		const written = { value, lease: lease.id, createRevision, modRevision };
		this.standing = { ...standing, present: written };
		this.options.onWritten?.({ key, ...written });
		return mustBeKnown;
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
			ranSince: intent.ranSince,
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
			masterPort: await this.portFor(intent.claim, round.instance),
		};
	}

	private async portFor(claim: number, instance: number): Promise<number> {
		if (this.reservedFor?.claim !== claim) {
			const { reservePort, identity } = this.options;
			const port = await reservePort(claim, identity.nodeId, instance);
			this.reservedFor = { claim, port };
		}
		return this.reservedFor.port;
	}
}

interface Place {
	readonly keys: RunKeys;
	readonly identity: AgentIdentity;
	readonly lease: Lease;
}

/**
 * The writes of an agent's intent: its record under its lease, and what must outlive the agent.
 * @param record the agent's record as text
 */
function intentWrites(
	intent: Intent,
	record: string,
	place: Place,
): readonly Write[] {
	const { keys, identity, lease } = place;
	const put = keys.node(identity.nodeId);
	const left = [...finishedWrites(intent, place), ...leftBehind(intent, place)];
	return [{ put, value: record, lease: lease.id }, ...left];
}

function finishedWrites(
	{ finishedPlan }: Intent,
	{ keys, identity }: Place,
): readonly Write[] {
	if (finishedPlan === null) return [];
	const put = keys.finishedBy(identity.nodeId);
	const version = RECORD_VERSION;
	return [{ put, value: encodeRecord({ version, planId: finishedPlan }) }];
}

/** Who leaves says what follows. */
function leftBehind(
	{ state, departure, cause, since }: Intent,
	{ keys, identity }: Place,
): readonly Write[] {
	const { nodeId, incarnation, hostId, address, role } = identity;
	const version = RECORD_VERSION;
	switch (departure) {
		case undefined: {
			if (state !== "leaving") return [];
			const value = encodeRecord({ version, incarnation });
			return [{ put: keys.leftBy(nodeId), value }];
		}
		case "recreated": {
			const value = encodeRecord({ version, incarnation });
			return [{ put: keys.recreatedBy(nodeId), value }];
		}
		case "replaced": {
			const who = { nodeId, incarnation, hostId, address, role };
			const about = { reason: cause ?? "", at: since };
			const value = encodeRecord({ version, ...who, ...about });
			return [{ put: keys.replacedNode(nodeId), value }];
		}
		default:
			return departure satisfies never;
	}
}

type Said = Pick<NodeRecord, "state" | "failure" | "notice">;

/**
 * How long what an agent would say may wait, in milliseconds. All agents know that a round is left, and none waits for the
 * news that one more agent ends its workers or has started them. In a large job such writes would delay the others'.
 */
function writePatienceMs(
	intent: Said,
	written: Said,
	round: RoundRecord,
): number {
	if (intent.failure !== written.failure) return 0;
	if (intent.notice !== written.notice) return 0;
	if (intent.state === "stopping") {
		return round.deprecated >= round.synced ? STOPPING_MS : 0;
	}
	return intent.state === "running"
		? Math.floor(round.seats * RUNNING_MS_A_SEAT)
		: 0;
}

/** The longest node id: it is part of keys and of file names. */
const LONGEST_NAME = 128;

/** The possible names of an agent without a given node id: `host`, `host-2`, `host-3`, …, from this number on. */
export function nodeIdCandidates(
	host: string,
	from: number,
	count: number,
): readonly string[] {
	return Array.from({ length: count }, (_, index) =>
		numbered(host, from + index),
	);
}

/**
 * The first candidate without a record, or with one whose process is gone: an agent that replaces a dead one gets its
 * name, and with it its ranks. Undefined if all are taken.
 * @param records those of the run, by node id
 * @param isDead whether the process that wrote a record is certainly gone
 */
export function freeNodeId(
	candidates: readonly string[],
	records: ReadonlyMap<string, NodeRecord>,
	isDead: (holder: NodeRecord) => boolean,
): string | undefined {
	return candidates.find((nodeId) => {
		const holder = records.get(nodeId);
		return holder === undefined || isDead(holder);
	});
}

function numbered(host: string, number: number): string {
	const suffix = number === 1 ? "" : `-${number}`;
	return `${host.slice(0, LONGEST_NAME - suffix.length)}${suffix}`;
}

interface OwnRecordOptions {
	readonly clock: Clock;
	readonly keys: RunKeys;
	readonly identity: AgentIdentity;
	readonly lease: Lease;
	/** What this agent runs; undefined if it is not compared. */
	readonly command?: OwnCommand | undefined;
}

/** A write that succeeds only while its key is as it was read. */
export interface GuardedWrite {
	readonly guard: Compare;
	readonly write: Write;
}

/** What this agent runs, as the command of its role. */
export function ownCommand(
	{ entries }: Snapshot,
	instance: number,
	{ keys, identity, command }: OwnRecordOptions,
): readonly GuardedWrite[] {
	if (command === undefined) return [];
	const key = keys.command(identity.role);
	return [commandWrite(key, command.command, instance, entries.get(key))];
}

/** The first record of an agent, which replaces what was read under its node id. */
export function ownRecord(
	{ entries }: Snapshot,
	instance: number,
	{ clock, keys, identity, lease }: OwnRecordOptions,
): GuardedWrite {
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
