import type {
	Entry,
	OnHint,
	Snapshot,
	Store,
	Watch,
} from "../../store/index.js";
import type { RunKeys } from "../records/keys.js";

/** What is new in the records of the round and of its coordinator. */
export interface RoundNews {
	/** The store's revision when this was so, or a later one. */
	readonly revision: number;
	/** Keys as they are now; none: something else has changed, which must be read from the store. */
	readonly entries: readonly Entry[];
}

/** The agent's connections to the run's other agents. */
export interface RoundLinks {
	/** Whether another agent tells this one what it hears of the round. */
	readonly isTold: boolean;
	/** Tells the agents of this one's group; null: there will be no more. */
	tellRound(news: RoundNews | null): void;
	/** Receives what it is told; null: there will be no more. */
	onRound(hear: (news: RoundNews | null) => void): void;
}

interface RoundWatchOptions {
	readonly store: Pick<Store, "watch">;
	readonly keys: RunKeys;
	/** Undefined: it has none. */
	readonly links: RoundLinks | undefined;
	readonly onHint: OnHint;
	/** Changes may have been missed. */
	readonly onMissed: () => void;
}

/**
 * How an agent learns of changes of the round and of its coordinator: by a watch in the store, or from its speaker, so that
 * the store has few watches. It passes them on to its own group.
 */
export class RoundWatch {
	private watch: Watch | undefined;
	/** How many of the keys exist, as far as its group was told. */
	private there = 0;
	private closed = false;

	constructor(private readonly options: RoundWatchOptions) {
		options.links?.onRound((news) => {
			if (this.closed) return;
			if (news === null) options.onMissed();
			else this.hear(news.revision, news.entries);
		});
	}

	/** Hears of all that is later than these records. */
	after({ revision, entries }: Snapshot): void {
		const { links, store } = this.options;
		const known = this.keys.flatMap((key) => entries.get(key) ?? []);
		// A key has gone, and a broken watch may not have said so.
		if (known.length < this.there) {
			links?.tellRound({ revision, entries: [] });
		}
		this.there = known.length;
		links?.tellRound({ revision, entries: known });
		if (links?.isTold) {
			this.watch?.close();
			this.watch = undefined;
		} else {
			this.watch ??= store.watch(this.keys, revision, (...changed) =>
				this.hear(...changed),
			);
		}
	}

	close(): void {
		this.closed = true;
		this.watch?.close();
		this.options.links?.tellRound(null);
	}

	private get keys(): readonly string[] {
		const { round, coordinator } = this.options.keys;
		return [round, coordinator];
	}

	private hear(...[revision, news = []]: Parameters<OnHint>): void {
		const { links, onHint } = this.options;
		const own = news.filter(({ key }) => this.keys.includes(key));
		if (revision !== undefined) {
			if (own.length === 0) this.there = 0;
			links?.tellRound({ revision, entries: own });
		}
		onHint(revision, own.length > 0 ? own : undefined);
	}
}
