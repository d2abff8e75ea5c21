import type { Snapshot, Store } from "../../store/index.js";

/** The last known records of a run: read from the store, or read back with a write. */
export class SnapshotCache {
	private seen: Snapshot | undefined;
	private offered: Snapshot | undefined;
	/** The revision of its reader's own last write, which no later look may miss. */
	private written = 0;
	/** Ends the current read. */
	private take: (offered: Snapshot) => void = () => {};

	/** @param selectors returns the present selectors */
	constructor(
		private readonly store: Pick<Store, "snapshot">,
		private readonly selectors: () => readonly string[],
	) {}

	/** The revision of the last records; 0 if they are not reliable. */
	get revision(): number {
		return this.seen?.revision ?? 0;
	}

	/** Offers a complete set of records. The current or next read takes it if it is newer and covers what the read is for. */
	offer(read: Snapshot): void {
		if (read.revision <= this.revision) return;
		this.offered = read;
		this.take(read);
	}

	/** Later looks see this write: what was offered before it does not count. */
	wrote(revision: number): void {
		this.written = revision;
	}

	/** @param changed the revision that offered records must have; Infinity: only the store will do */
	async look(changed = 0): Promise<Snapshot> {
		const atLeast = Math.max(changed, this.written);
		const offered = this.offered;
		this.offered = undefined;
		const isNews =
			offered !== undefined &&
			offered.revision > this.revision &&
			offered.revision >= atLeast;
		this.seen = isNews ? offered : await this.readOrTake(atLeast);
		return this.seen;
	}

	/** Makes the next read fetch everything. */
	forget(): void {
		this.seen = undefined;
		this.offered = undefined;
		this.written = 0;
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
