import type { NodeRecord } from "../../src/rendezvous/records/records.js";
import type {
	EtcdMetrics,
	EtcdStore,
} from "../../src/store/etcd/etcd-store.js";
import type {
	Compare,
	Lease,
	LeaseEvents,
	LeaseId,
	OnHint,
	ReadBack,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "../../src/store/store.js";

/** So many requests are under way at a time: what waits in this process is not what etcd takes to answer. */
const MOST_UNDER_WAY = 64;

/** One store for all agents of a process, which counts what they ask of it. */
export class SharedStore implements Store {
	/** What all agents together have asked for. */
	readonly counts = { looks: 0, writes: 0 };
	/** Told of each agent's record that was written, or was to be. */
	onRecord: (record: NodeRecord) => void = () => {};
	private free = MOST_UNDER_WAY;
	private readonly waiting: (() => void)[] = [];

	constructor(private readonly store: EtcdStore) {}

	get metrics(): EtcdMetrics {
		return this.store.metrics;
	}

	openLease(ttlMs: number, events: LeaseEvents): Promise<Lease> {
		return this.inTurn(() => this.store.openLease(ttlMs, events));
	}

	endLease(id: LeaseId): Promise<void> {
		return this.inTurn(() => this.store.endLease(id));
	}

	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot> {
		this.counts.looks += 1;
		return this.inTurn(() => this.store.snapshot(selectors, known));
	}

	async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult> {
		this.counts.writes += 1;
		try {
			return await this.inTurn(() =>
				this.store.transaction(compares, writes, reads),
			);
		} finally {
			for (const write of writes) {
				if ("put" in write && write.put.includes("/nodes/")) {
					this.onRecord(JSON.parse(write.value));
				}
			}
		}
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		return this.store.watch(selectors, afterRevision, onHint);
	}

	close(): Promise<void> {
		return this.store.close();
	}

	private async inTurn<Answer>(call: () => Promise<Answer>): Promise<Answer> {
		if (this.free > 0) this.free -= 1;
		else await new Promise<void>((resolve) => this.waiting.push(resolve));
		try {
			return await call();
		} finally {
			const next = this.waiting.shift();
			if (next === undefined) this.free += 1;
			else next();
		}
	}
}
