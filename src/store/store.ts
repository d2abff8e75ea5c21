export type LeaseId = string;

/** One key in the store. Each change of the store has a higher revision. */
export interface Entry {
	readonly key: string;
	readonly value: string;
	/** The revision that created the key, the latest time after deletions. */
	readonly createRevision: number;
	/** Revision of its last change. */
	readonly modRevision: number;
	readonly lease: LeaseId | null;
}

/** Keys at one common revision. */
export interface Snapshot {
	readonly revision: number;
	readonly entries: ReadonlyMap<string, Entry>;
}

/**
 * A condition of a transaction; revision 0 means that the key is absent. Comparing the value as well detects another
 * store at the old address, which may hold other keys with the same revisions.
 */
export type Compare =
	| {
			readonly key: string;
			readonly createRevision: number;
			readonly value?: string | undefined;
	  }
	| { readonly key: string; readonly modRevision: number };

export type Write =
	| {
			readonly put: string;
			readonly value: string;
			readonly lease?: LeaseId | undefined;
	  }
	| { readonly delete: string };

export interface TransactionResult {
	/** Whether every condition held, and so every write was made. */
	readonly succeeded: boolean;
	readonly revision: number;
	/** The records read back at the same revision; undefined if none were requested. */
	readonly read?: Snapshot | undefined;
}

/** Selectors that a transaction reads back, after its writes or instead of them. */
export interface ReadBack {
	/** If every condition held. */
	readonly made?: readonly string[] | undefined;
	/** If one did not. */
	readonly refused?: readonly string[] | undefined;
}

/** Takes the records that a write reads back. */
export interface Reader {
	readonly selectors: readonly string[];
	readonly take: (read: Snapshot) => void;
}

export interface Watch {
	close(): void;
}

/**
 * @param revision that of the last change; absent if anything may have changed
 * @param news all changes since the last hint, in order; absent if they are not known, or if not all are puts
 */
export type OnHint = (revision?: number, news?: readonly Entry[]) => void;

/** Keys written under a lease vanish in one revision when it ends. */
export interface Lease {
	readonly id: LeaseId;
	/** The time to live that the store granted, in milliseconds. */
	readonly ttlMs: number;
	/**
	 * Until when the store certainly keeps it, on the clock's steady scale: the time to live, counted from when the last
	 * acknowledged keepalive was sent. Infinity if leases never expire.
	 */
	readonly expiresAt: number;
	/** How long the store took to acknowledge that keepalive, in milliseconds. */
	readonly answeredInMs: number;
	/** Stops its keepalives and ends it at once. A lease that has already ended is no error. */
	revoke(): Promise<void>;
}

/** The events of a lease that the store keeps alive. */
export interface LeaseEvents {
	/** Called once, when the store says that the lease has ended; not after `revoke`. */
	onLost(reason: string): void;
	/**
	 * Called before each keepalive. Timers do not notice that the machine has slept, so a timer for `expiresAt` must be
	 * checked again.
	 */
	onKeepalive?(): void;
}

/**
 * The store of a run's shared state. A selector is a key, or a prefix if it ends with "/". Failures reject with an
 * `ElasticRunError` of code STORE_UNREACHABLE; a transaction that rejects may have succeeded all the same. Every call
 * settles within a bounded time.
 */
export interface Store {
	/**
	 * Opens a lease, which this process keeps alive from now on.
	 * @param asOften as often as one with this time to live; default: its own
	 */
	openLease(
		ttlMs: number,
		events: LeaseEvents,
		asOften?: number,
	): Promise<Lease>;
	/** Ends a lease of any process. One that has already ended is no error. */
	endLease(id: LeaseId): Promise<void>;
	/**
	 * All that the selectors match, at one revision.
	 * @param known earlier records: a store may fetch only later changes, and unchanged entries are then the same objects
	 */
	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot>;
	/**
	 * Makes all writes, or none if a condition does not hold. At most 128 conditions, and 128 writes and selectors.
	 * @param reads default: nothing
	 */
	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult>;
	/**
	 * Calls `onHint` after changes later than `afterRevision`. It only says "read again": it may stand for several changes,
	 * or come without one. If it names the revision of its last change, a read at this revision or later covers it. News are
	 * of single keys: of several watches, each may be behind the others.
	 */
	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch;
	close(): Promise<void>;
}
