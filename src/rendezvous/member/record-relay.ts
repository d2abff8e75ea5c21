import { attempt } from "../../base/attempt.js";
import type { Clock } from "../../base/clock.js";
import { within } from "../../base/within.js";
import type {
	LinkedAgent,
	RecordWrite,
	RecordWritten,
} from "../../model/index.js";
import type { Store } from "../../store/index.js";
import type { RunKeys } from "../records/keys.js";
import { encodeRecord } from "../records/record-codec.js";
import type { GuardedRecord, Relay } from "../records/record-writer.js";
import type { NodeRecord } from "../records/records.js";
import { decodeNode } from "../records/run-view.js";

/*
 * How the requests to the store stay few while a run grows.
 *
 * An agent of a large round asks the head to write its record. The head makes one transaction of all that came while the
 * last one was under way. Each record has the guards that it would have alone: so it may come late or twice. The head only
 * says what it has written. Of what it does not say so in time, its agent writes itself, and finds out if it was written.
 */

/** In a smaller round each agent writes at once. */
const RELAYED_FROM = 33;
/** Records in one transaction, which also compares their round; etcd's limit is 128. */
const BATCH_SIZE = 100;
/** How long an answer is waited for, in times to live of a lease. */
const ANSWERED_WITHIN = 0.1;
/** Longer records go alone, in characters: a request of etcd has at most 1.5 MB. */
const LONGEST = 8_192;

/** The agent's connections to the run's other agents. */
export interface RecordLinks {
	/** Asks the head of the round. Returns false if there is no connection to it. */
	askHead(write: RecordWrite): boolean;
	/** Of the head: to one agent, by its incarnation. */
	answer(incarnation: string, written: RecordWritten): void;
	/** Receives what other agents ask, and what the head answers; undefined: its connection has ended. */
	onRecords(
		take: (from: LinkedAgent, write: RecordWrite) => void,
		learn: (written: RecordWritten | undefined) => void,
	): void;
}

export interface RelayOptions {
	readonly clock: Clock;
	readonly store: Pick<Store, "transaction">;
	readonly keys: RunKeys;
	readonly links: RecordLinks;
	readonly leaseTtlMs: number;
	/** From so many seats of a round on; default: 33. */
	readonly relayedFrom?: number | undefined;
}

/** What an agent wants written under its node's key. */
interface Asked {
	readonly from: LinkedAgent;
	readonly write: RecordWrite;
	readonly value: string;
}

/** One agent's part in writing records together: it asks the head of its round, and answers where it is the head. */
export class RecordRelay implements Relay {
	private newest = 0;
	private learn: (written: RecordWritten | undefined) => void = () => {};
	/** By node: a later wish replaces an earlier one. */
	private readonly waiting = new Map<string, Asked>();
	private isWriting = false;

	constructor(private readonly options: RelayOptions) {
		options.links.onRecords(
			(from, write) => this.take(from, write),
			(written) => this.learn(written),
		);
	}

	/** Resolves with the revision of the write; undefined: it is to be made without the head. One at a time. */
	async write(own: GuardedRecord): Promise<number | undefined> {
		const {
			clock,
			links,
			leaseTtlMs,
			relayedFrom = RELAYED_FROM,
		} = this.options;
		const { seats, record, ...guards } = own;
		if (seats < relayedFrom) return undefined;
		// Links are not encrypted, and the head knows the secret.
		const value = withSecret(record, "");
		if (value.length > LONGEST) return undefined;
		this.newest += 1;
		const number = this.newest;
		const answer = new Promise<number | null | undefined>((resolve) => {
			this.learn = (written) => {
				if (written === undefined) resolve(undefined);
				else if (written.number === number) resolve(written.revision);
			};
		});
		if (!links.askHead({ number, ...guards, value })) return undefined;
		const revision = await within(clock, ANSWERED_WITHIN * leaseTtlMs, answer);
		return revision ?? undefined;
	}

	private take(from: LinkedAgent, write: RecordWrite): void {
		const value = this.valueOf(from, write);
		if (value === undefined) this.answer({ from, write }, null);
		else {
			this.waiting.set(from.nodeId, { from, write, value });
			if (!this.isWriting) void this.writeAll();
		}
	}

	/** Undefined: it is not this agent's own record. */
	private valueOf(
		{ nodeId, incarnation, link }: LinkedAgent,
		{ value, lease }: RecordWrite,
	): string | undefined {
		const key = this.options.keys.node(nodeId);
		const entry = { key, value, lease, createRevision: 0, modRevision: 0 };
		const record = attempt(() => decodeNode(entry));
		if (record?.incarnation !== incarnation) return undefined;
		return withSecret(record, link?.secret ?? "");
	}

	private async writeAll(): Promise<void> {
		this.isWriting = true;
		while (this.waiting.size > 0) {
			const batch = this.nextBatch();
			const revision = await this.writeTogether(batch);
			for (const asked of batch) this.answer(asked, revision);
		}
		this.isWriting = false;
	}

	/** Those that have read the same round. */
	private nextBatch(): readonly Asked[] {
		const [first, ...others] = this.waiting.values();
		const same = others.filter(
			({ write }) => write.round === first?.write.round,
		);
		const batch = first ? [first, ...same].slice(0, BATCH_SIZE) : [];
		for (const { from } of batch) this.waiting.delete(from.nodeId);
		return batch;
	}

	/** Resolves with null if they were not written, or nobody knows. */
	private async writeTogether(batch: readonly Asked[]): Promise<number | null> {
		const { store, keys } = this.options;
		const round = batch[0]?.write.round ?? 0;
		const guards = batch.map(({ from, write }) => ({
			key: keys.node(from.nodeId),
			modRevision: write.present,
		}));
		const writes = batch.map(({ from, write, value }) => ({
			...{ put: keys.node(from.nodeId), value, lease: write.lease },
		}));
		try {
			const { succeeded, revision } = await store.transaction(
				[{ key: keys.round, modRevision: round }, ...guards],
				writes,
			);
			return succeeded ? revision : null;
		} catch {
			// Each agent meets what is wrong when it writes for itself.
			return null;
		}
	}

	private answer(
		{ from, write }: Pick<Asked, "from" | "write">,
		revision: number | null,
	): void {
		const { number } = write;
		this.options.links.answer(from.incarnation, { number, revision });
	}
}

function withSecret(record: NodeRecord, secret: string): string {
	const { link } = record;
	return encodeRecord(link ? { ...record, link: { ...link, secret } } : record);
}
