import { ElasticRunError } from "../../src/base/errors.js";
import type {
	Compare,
	Entry,
	LeaseId,
	ReadBack,
	Snapshot,
	TransactionResult,
	Write,
} from "../../src/store/store.js";

/** Conditions or writes that one transaction may have, as etcd sets it by default. */
const MOST_OPERATIONS = 128;

/** Keys with their revisions, as one etcd cluster keeps them. It knows nothing of time and of messages. */
export class EtcdData {
	private readonly entries = new Map<string, Entry>();
	private revision = 1;

	/**
	 * @param isAlive whether a lease is there
	 * @param onChange told of the keys that one revision has changed
	 */
	constructor(
		private readonly isAlive: (id: LeaseId) => boolean,
		private readonly onChange: (
			keys: readonly string[],
			revision: number,
		) => void,
	) {}

	get(key: string): Entry | undefined {
		return this.entries.get(key);
	}

	get newestRevision(): number {
		return this.revision;
	}

	snapshot(selectors: readonly string[]): Snapshot {
		const matching = new Map<string, Entry>();
		for (const selector of selectors) {
			if (!selector.endsWith("/")) {
				const entry = this.entries.get(selector);
				if (entry) matching.set(selector, entry);
				continue;
			}
			for (const [key, entry] of this.entries) {
				if (key.startsWith(selector)) matching.set(key, entry);
			}
		}
		return { revision: this.revision, entries: matching };
	}

	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads: ReadBack = {},
	): TransactionResult {
		const operations = writes.length + (reads.made?.length ?? 0);
		if (Math.max(compares.length, operations) > MOST_OPERATIONS) {
			throw new Error("etcdserver: too many operations in txn request");
		}
		const succeeded = compares.every((compare) => this.holds(compare));
		if (succeeded) this.commit(writes);
		const selectors = succeeded ? reads.made : reads.refused;
		const read = selectors && this.snapshot(selectors);
		return { succeeded, revision: this.revision, read };
	}

	/** Holds what a copy says, and nothing else. */
	load({ revision, entries }: Snapshot): void {
		this.revision = revision;
		for (const [key, entry] of entries) this.entries.set(key, entry);
	}

	/** Deletes these keys in one revision; no condition, no limit. */
	delete(keys: readonly string[]): void {
		const present = keys.filter((key) => this.entries.has(key));
		if (present.length > 0)
			this.commit(present.map((key) => ({ delete: key })));
	}

	heldBy(lease: LeaseId): readonly Entry[] {
		return [...this.entries.values()].filter((entry) => entry.lease === lease);
	}

	private holds(compare: Compare): boolean {
		const entry = this.entries.get(compare.key);
		if ("modRevision" in compare) {
			return (entry?.modRevision ?? 0) === compare.modRevision;
		}
		const { createRevision, value = entry?.value } = compare;
		return (
			(entry?.createRevision ?? 0) === createRevision && entry?.value === value
		);
	}

	private commit(writes: readonly Write[]): void {
		for (const write of writes) this.refuseUnknownLease(write);
		this.revision += 1;
		for (const write of writes) {
			if ("delete" in write) this.entries.delete(write.delete);
			else this.put(write.put, write.value, write.lease ?? null);
		}
		this.onChange(
			writes.map((write) => ("delete" in write ? write.delete : write.put)),
			this.revision,
		);
	}

	private put(key: string, value: string, lease: LeaseId | null): void {
		this.entries.set(key, {
			key,
			value,
			lease,
			createRevision: this.entries.get(key)?.createRevision ?? this.revision,
			modRevision: this.revision,
		});
	}

	private refuseUnknownLease(write: Write): void {
		if ("delete" in write || write.lease === undefined) return;
		if (this.isAlive(write.lease)) return;
		throw new ElasticRunError(
			"STORE_UNREACHABLE",
			`${write.put} cannot be written: its lease ${write.lease} has ended`,
		);
	}
}

/** Whether a change of this key concerns who selected that. */
export function matches(selector: string, key: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
