/** Names a lease of the store. */
export type LeaseId = string;

/** One key as the store holds it. Revisions are the store's own: each change has a higher one. */
export interface Entry {
	readonly key: string;
	readonly value: string;
	/** Revision in which the key came into being, again after each deletion. */
	readonly createRevision: number;
	/** Revision of its last change. */
	readonly modRevision: number;
	readonly lease: LeaseId | null;
}

/** Keys as they stood together at one revision. */
export interface Snapshot {
	readonly revision: number;
	readonly entries: ReadonlyMap<string, Entry>;
}

/**
 * A condition of a transaction; revision 0 means that the key is absent. Who compares
 * the value as well is not deceived by another store under the old address, which may
 * hold other keys of the same revisions.
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
	/** What was to be read back, in the same revision; undefined where nothing was. */
	readonly read?: Snapshot | undefined;
}

/** Selectors of what a transaction reads back, after its writes or instead of them. */
export interface ReadBack {
	/** Where every condition held. */
	readonly made?: readonly string[] | undefined;
	/** Where one did not. */
	readonly refused?: readonly string[] | undefined;
}

/** Who goes by what a write may read back. */
export interface Reader {
	readonly selectors: readonly string[];
	readonly take: (read: Snapshot) => void;
}

export interface Watch {
	close(): void;
}

export type OnHint = (revision?: number) => void;

/** A grant of life: keys written under it vanish in one revision when it ends. */
export interface Lease {
	readonly id: LeaseId;
	/** The time to live that the store granted, in milliseconds. */
	readonly ttlMs: number;
	/**
	 * Until when the store certainly keeps it, on the clock's steady scale: the time
	 * to live, counted from the sending of the last keepalive that was acknowledged.
	 * Infinity where leases never lapse.
	 */
	readonly expiresAt: number;
	/** Keeps it alive no longer and ends it at once; one that has ended already is no error. */
	revoke(): Promise<void>;
}

/** What a store tells of a lease that it keeps. */
export interface LeaseEvents {
	/** Called once, when the store says that the lease has ended; not after `revoke`. */
	onLost(reason: string): void;
	/**
	 * Called before each keepalive is sent. No timer knows that the machine has slept: whoever
	 * has set one for `expiresAt` looks at it again.
	 */
	onKeepalive?(): void;
}

/**
 * Where a run's shared state lives. A selector is a key, or a prefix if it ends
 * with "/". Failures reject with an `ElasticRunError` of code STORE_UNREACHABLE;
 * a transaction that rejects may have been made all the same. Every call settles
 * within a bounded time.
 */
export interface Store {
	/** A lease that this process keeps alive from now on. */
	openLease(ttlMs: number, events: LeaseEvents): Promise<Lease>;
	/** Ends a lease that any process opened; one that has ended already is no error. */
	endLease(id: LeaseId): Promise<void>;
	/**
	 * What the selectors match, all at one revision.
	 * @param known what was read before: a store may fetch only what has changed
	 * since, and entries that have not are then the same objects
	 */
	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot>;
	/**
	 * Makes all writes or, where a condition does not hold, none. At most 128 conditions,
	 * and 128 writes and selectors.
	 * @param reads nothing unless given
	 */
	transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads?: ReadBack,
	): Promise<TransactionResult>;
	/**
	 * Calls `onHint` after changes later than `afterRevision`. A hint says only
	 * "look again": several changes may share one, and one may come for nothing. Where
	 * it names the revision of the last change that it is for, who has read the store as
	 * it was then, or later, has seen what it tells of.
	 */
	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch;
	close(): Promise<void>;
}
