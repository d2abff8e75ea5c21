import { ElasticRunError } from "../base/errors.js";
import type {
	Compare,
	Entry,
	Lease,
	LeaseId,
	OnHint,
	ReadBack,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "./store.js";

interface Watcher {
	readonly selectors: readonly string[];
	readonly onHint: OnHint;
}

/** The store of a run on one machine: in one process, without a disk, with leases that never expire. */
export class MemoryStore implements Store {
	private readonly entries = new Map<string, Entry>();
	private readonly watchers = new Set<Watcher>();
	private readonly leases = new Set<LeaseId>();
	private revision = 1;
	private leasesOpened = 0;

	async openLease(ttlMs: number): Promise<Lease> {
		this.leasesOpened += 1;
		const id = `lease-${this.leasesOpened}`;
		this.leases.add(id);
		return {
			id,
			ttlMs,
			expiresAt: Number.POSITIVE_INFINITY,
			answeredInMs: 0,
			revoke: () => this.endLease(id),
		};
	}

	async endLease(id: LeaseId): Promise<void> {
		if (!this.leases.delete(id)) return;
		const keys = [...this.entries.values()]
			.filter((entry) => entry.lease === id)
			.map((entry) => entry.key);
		if (keys.length > 0) this.commit(keys.map((key) => ({ delete: key })));
	}

	async snapshot(selectors: readonly string[]): Promise<Snapshot> {
		return this.read(selectors);
	}

	async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads: ReadBack = {},
	): Promise<TransactionResult> {
		const succeeded = compares.every((compare) => this.holds(compare));
		if (succeeded) this.commit(writes);
		const selectors = succeeded ? reads.made : reads.refused;
		const read = selectors && this.read(selectors);
		return { succeeded, revision: this.revision, read };
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		const watcher = { selectors, onHint };
		this.watchers.add(watcher);
		if (this.revision > afterRevision) this.hint(watcher);
		return { close: () => void this.watchers.delete(watcher) };
	}

	async close(): Promise<void> {
		this.watchers.clear();
	}

	private read(selectors: readonly string[]): Snapshot {
		const matching = [...this.entries].filter(([key]) =>
			selectors.some((selector) => matches(selector, key)),
		);
		return { revision: this.revision, entries: new Map(matching) };
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
		this.hintAll(
			writes.map((write) => ("delete" in write ? write.delete : write.put)),
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
		if (this.leases.has(write.lease)) return;
		throw new ElasticRunError(
			"STORE_UNREACHABLE",
			`${write.put} cannot be written: its lease ${write.lease} has ended; open a new one`,
		);
	}

	private hintAll(keys: readonly string[]): void {
		for (const watcher of this.watchers) {
			const touched = keys.some((key) =>
				watcher.selectors.some((selector) => matches(selector, key)),
			);
			if (touched) this.hint(watcher);
		}
	}

	private hint(watcher: Watcher): void {
		const { revision } = this;
		queueMicrotask(() => {
			if (this.watchers.has(watcher)) watcher.onHint(revision);
		});
	}
}

function matches(selector: string, key: string): boolean {
	return selector.endsWith("/") ? key.startsWith(selector) : key === selector;
}
