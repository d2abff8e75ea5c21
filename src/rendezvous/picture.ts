import type { Snapshot, Store } from "./store.js";

/** What an agent has seen of its run last: read from the store, or read back with something that it wrote itself. */
export class Picture {
	private seen: Snapshot | undefined;
	private offered: Snapshot | undefined;

	constructor(
		private readonly store: Pick<Store, "snapshot">,
		private readonly selectors: readonly string[],
	) {}

	/** The store's, of what was seen last; 0 before the first look. */
	get revision(): number {
		return this.seen?.revision ?? 0;
	}

	/** What the same selectors have matched: the next look takes it, if it is news. */
	offer(read: Snapshot): void {
		this.offered = read;
	}

	async look(): Promise<Snapshot> {
		const { offered } = this;
		this.offered = undefined;
		const isNews = offered !== undefined && offered.revision > this.revision;
		this.seen = isNews
			? offered
			: await this.store.snapshot(this.selectors, this.seen);
		return this.seen;
	}
}
