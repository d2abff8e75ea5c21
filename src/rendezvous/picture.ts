import type { Snapshot, Store } from "./store.js";

/** What was seen of a run last: read from the store, or read back with something that was written. */
export class Picture {
	private seen: Snapshot | undefined;
	private offered: Snapshot | undefined;
	/** Ends a look that is under way. */
	private take: (offered: Snapshot) => void = () => {};

	/** @param selectors of what belongs to it, at present */
	constructor(
		private readonly store: Pick<Store, "snapshot">,
		private readonly selectors: () => readonly string[],
	) {}

	/** The store's, of what was seen last; 0: there is nothing that can be relied on. */
	get revision(): number {
		return this.seen?.revision ?? 0;
	}

	/**
	 * All that belongs to it, and perhaps more: a look takes it where it is news and holds
	 * what the look is for, the one that is under way or the next.
	 */
	offer(read: Snapshot): void {
		if (read.revision <= this.revision) return;
		this.offered = read;
		this.take(read);
	}

	/** @param atLeast the revision that what was offered must have; Infinity: nothing but the store will do */
	async look(atLeast = 0): Promise<Snapshot> {
		const offered = this.offered;
		this.offered = undefined;
		const isNews =
			offered !== undefined &&
			offered.revision > this.revision &&
			offered.revision >= atLeast;
		this.seen = isNews ? offered : await this.readOrTake(atLeast);
		return this.seen;
	}

	/** The next look reads all anew. */
	forget(): void {
		this.seen = undefined;
		this.offered = undefined;
	}

	private readOrTake(atLeast: number): Promise<Snapshot> {
		const taken = new Promise<Snapshot>((resolve) => {
			this.take = (offered) => {
				if (offered.revision >= atLeast) resolve(offered);
			};
		});
		const read = this.store.snapshot(this.selectors(), this.seen);
		return Promise.race([taken, read]);
	}
}
