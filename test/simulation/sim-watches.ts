import type { Entry, OnHint, Watch } from "../../src/store/store.js";
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
			const changed = keys.filter((key) =>
				selectors.some((selector) => matches(selector, key)),
			);
			if (changed.length === 0) continue;
			this.send(watcher, revision, this.newsOf(changed));
		}
	}

	/** What these keys hold now; undefined if one is gone. */
	private newsOf(keys: readonly string[]): readonly Entry[] | undefined {
		const entries = keys.flatMap((key) => this.place.etcd.data.get(key) ?? []);
		return entries.length === keys.length ? entries : undefined;
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

	/** One hint is on its way, or two; after a gap it names no revision, and no news. */
	private send(
		watcher: Watcher,
		revision?: number,
		news?: readonly Entry[],
	): void {
		const { link, random, doublesHints } = this.place;
		if (this.isBroken || link.deaf || link.answersLost) return;
		this.sendOne(watcher, revision, news);
		if (!doublesHints || !random.chance(0.1)) return;
		this.sendOne(watcher, revision, news);
	}

	private sendOne(
		watcher: Watcher,
		revision: number | undefined,
		news: readonly Entry[] | undefined,
	): void {
		const { timeline, process } = this.place;
		const { generation } = this;
		timeline.after(wayOf(this.place), () => {
			if (this.generation !== generation) return QUIET;
			process.deliver(() => {
				if (this.watchers.has(watcher)) watcher.onHint(revision, news);
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
