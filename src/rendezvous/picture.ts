import type { Snapshot, Store } from "./store.js";

/** What an agent has seen of its run last: read from the store, or read back with something that it wrote itself. */
export class Picture {
	private seen: Snapshot | undefined;
	private offered: Snapshot | undefined;
	/** Ends a look that is under way. */
	private take: (offered: Snapshot) => void = () => {};

	constructor(
		private readonly store: Pick<Store, "snapshot">,
		private readonly selectors: readonly string[],
	) {}

	/** The store's, of what was seen last; 0 before the first look. */
	get revision(): number {
		return this.seen?.revision ?? 0;
	}

	/** What the same selectors have matched: a look takes it where it is news, the one that is under way or the next. */
	offer(read: Snapshot): void {
		if (read.revision <= this.revision) return;
		this.offered = read;
		this.take(read);
	}

	async look(): Promise<Snapshot> {
		const { offered } = this;
		this.offered = undefined;
		const isNews = offered !== undefined && offered.revision > this.revision;
		this.seen = isNews ? offered : await this.readOrTake();
		return this.seen;
	}

	private readOrTake(): Promise<Snapshot> {
		const taken = new Promise<Snapshot>((resolve) => {
			this.take = resolve;
		});
		return Promise.race([
			taken,
			this.store.snapshot(this.selectors, this.seen),
		]);
	}
}
