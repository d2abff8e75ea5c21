import type { OnHint, Watch } from "../../src/store/store.js";
import { matches } from "./etcd-data.js";
import type { WatchStream } from "./sim-etcd.js";
import { type StorePlace, wayOf } from "./sim-store.js";
import { QUIET } from "./timeline.js";

/** The longest that the server takes until it looks after a watch that is behind, in milliseconds. */
const CATCH_UP_MS = 100;
/** Between two tries to open the stream again, in milliseconds. */
const REOPEN_MS = { least: 20, most: 300 };

interface Watcher {
	readonly selectors: readonly string[];
	readonly onHint: OnHint;
}

/** All watches of one process: they share a stream, which breaks, lags, or goes deaf. */
export class SimWatches implements WatchStream {
	private readonly watchers = new Set<Watcher>();
	private readonly forget: () => void;
	/** Changes when the stream breaks: what was under way on it is lost. */
	private generation = 0;
	private isBroken = false;
	private closed = false;

	constructor(private readonly place: StorePlace) {
		this.forget = place.etcd.listen(this);
	}

	add(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		const { etcd, random, timeline } = this.place;
		const watcher = { selectors, onHint };
		this.watchers.add(watcher);
		const behindMs = wayOf(this.place) + random.between(0, CATCH_UP_MS);
		timeline.after(behindMs, () => {
			if (etcd.data.newestRevision !== afterRevision) this.send(watcher);
			return QUIET;
		});
		return { close: () => void this.watchers.delete(watcher) };
	}

	hear(keys: readonly string[], revision: number): void {
		for (const watcher of this.watchers) {
			const { selectors } = watcher;
			const concerns = keys.some((key) =>
				selectors.some((selector) => matches(selector, key)),
			);
			if (concerns) this.send(watcher, revision);
		}
	}

	break(): void {
		if (this.closed) return;
		this.generation += 1;
		if (this.isBroken) return;
		this.isBroken = true;
		this.reopenSoon();
	}

	close(): void {
		this.closed = true;
		this.watchers.clear();
		this.forget();
	}

	/** One hint is on its way, or two; after a gap it names no revision. */
	private send(watcher: Watcher, revision?: number): void {
		const { link, random, doublesHints } = this.place;
		if (this.isBroken || link.deaf || link.answersLost) return;
		this.sendOne(watcher, revision);
		if (doublesHints && random.chance(0.1)) this.sendOne(watcher, revision);
	}

	private sendOne(watcher: Watcher, revision: number | undefined): void {
		const { timeline, process } = this.place;
		const { generation } = this;
		timeline.after(wayOf(this.place), () => {
			if (this.generation !== generation) return QUIET;
			process.deliver(() => {
				if (this.watchers.has(watcher)) watcher.onHint(revision);
			});
			return undefined;
		});
	}

	private reopenSoon(): void {
		const { timeline, random, etcd, link } = this.place;
		timeline.after(random.between(REOPEN_MS.least, REOPEN_MS.most), () => {
			if (this.closed) return QUIET;
			if (!etcd.serves || link.requestsLost || link.answersLost) {
				this.reopenSoon();
				return QUIET;
			}
			this.isBroken = false;
			const behindMs = random.between(0, CATCH_UP_MS);
			timeline.after(behindMs, () => {
				for (const watcher of this.watchers) this.send(watcher);
				return QUIET;
			});
			return QUIET;
		});
	}
}
