import type { Entry, Snapshot, Store } from "../../store/index.js";

/** The last known records of a run: read from the store, or read back with a write. */
export class SnapshotCache {
	private seen: Snapshot | undefined;
	/** The store may be another one than that of the last records. */
	private isDoubtful = false;
	private offered: Snapshot | undefined;
	/** The revision of its reader's own last write, which no later look may miss. */
	private written = 0;
	/** What the keys are known to hold since the last records. */
	private readonly heard = new Map<string, Entry>();
	/** Whether something heard was in no look yet. */
	private hasNews = false;
	private isReading = false;
	/** Ends the current read. */
	private take: (offered: Snapshot) => void = () => {};

	/** @param selectors returns the present selectors */
	constructor(
		private readonly store: Pick<Store, "snapshot">,
		private readonly selectors: () => readonly string[],
	) {}

	/** The revision of the last records; 0 if they are not reliable. */
	get revision(): number {
		return this.isDoubtful ? 0 : this.seenRevision;
	}

	private get seenRevision(): number {
		return this.seen?.revision ?? 0;
	}

	/** Offers a complete set of records. The current or next read takes it if it is newer and covers what the read is for. */
	offer(read: Snapshot): void {
		if (read.revision <= this.seenRevision) return;
		this.offered = read;
		this.take(read);
	}

	/** What this key holds now, as the answer to a write of it says. */
	know(entry: Entry): void {
		this.heard.set(entry.key, entry);
	}

	/**
	 * Takes what a watch says that its keys hold now. Returns whether the next look shows it, and undefined if it is nothing
	 * new; false: only the store can show it.
	 */
	hear(news: readonly Entry[]): boolean | undefined {
		if (this.revision === 0 || this.isReading) return false;
		const later = news.filter(({ key, modRevision }) => {
			const known = this.heard.get(key)?.modRevision ?? 0;
			return modRevision > Math.max(known, this.revision);
		});
		for (const entry of later) this.heard.set(entry.key, entry);
		if (later.length === 0) return undefined;
		this.hasNews = true;
		return true;
	}

	/** Later looks see this write: what was offered before it does not count. */
	wrote(revision: number): void {
		this.written = revision;
	}

	/**
	 * @param changed the revision that offered records must have; Infinity: only the store will do
	 * @param isEnough whether to take the last records with what was heard since. Each key is then as it was at some time, not
	 * all at the same
	 */
	async look(
		changed = 0,
		isEnough: (told: Snapshot) => boolean = () => false,
	): Promise<Snapshot> {
		const atLeast = Math.max(changed, this.written);
		const offered = this.offered;
		this.offered = undefined;
		const told = this.hasNews ? this.told() : undefined;
		this.hasNews = false;
		if (told && offered === undefined && atLeast <= told.revision) {
			if (isEnough(told)) return told;
		}
		// No look is older than one before it, and none uses up news that it does not show.
		const news = [...this.heard.values()].map((entry) => entry.modRevision);
		const least = Math.max(atLeast, ...news);
		const isNews =
			offered !== undefined &&
			offered.revision > this.seenRevision &&
			offered.revision >= least;
		const read = isNews ? offered : await this.readOrTake(least);
		this.see(read);
		return read;
	}

	/** The next read fetches everything: the store may be another one, which has passed the last records' revision. */
	distrust(): void {
		this.isDoubtful = true;
	}

	/** The next read fetches everything, and nothing that was seen, offered or told before counts. */
	forget(): void {
		this.seen = undefined;
		this.offered = undefined;
		this.written = 0;
		this.heard.clear();
	}

	private told(): Snapshot | undefined {
		const { seen, heard } = this;
		if (this.isDoubtful) return undefined;
		return seen && { ...seen, entries: new Map([...seen.entries, ...heard]) };
	}

	private see(read: Snapshot): void {
		// Lower revisions are of another store.
		const isOther = read.revision < this.seenRevision;
		for (const [key, { modRevision }] of this.heard) {
			if (isOther || modRevision <= read.revision) this.heard.delete(key);
		}
		this.seen = read;
		this.isDoubtful = false;
	}

	private async readOrTake(atLeast: number): Promise<Snapshot> {
		const taken = new Promise<Snapshot>((resolve) => {
			this.take = (offered) => {
				if (offered.revision >= atLeast) resolve(offered);
			};
		});
		const known = this.isDoubtful ? undefined : this.seen;
		const read = this.store.snapshot(this.selectors(), known);
		this.isReading = true;
		try {
			return await Promise.race([taken, read]);
		} finally {
			this.isReading = false;
		}
	}
}
