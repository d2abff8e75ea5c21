import type { Clock } from "../../base/clock.js";
import type { Entry, OnHint, Watch } from "../store.js";
import type { Connections, StreamPauses } from "./calls.js";
import { decodeNews, encodeRange } from "./codec.js";
import type { Status } from "./errors.js";
import type { EtcdClient, WatchRequest, WatchResponse } from "./etcd-client.js";
import {
	type AnswerTime,
	type EtcdStream,
	expectAnswer,
} from "./pending-calls.js";

/** How long to wait after a refused watch, in milliseconds; each further refusal doubles it. */
const SHORTEST_REFUSAL_MS = 1_000;
const LONGEST_REFUSAL_MS = 30_000;

/** One watch of the store's users. It survives its streams. */
class Watcher {
	private isHinting = false;
	/** The newest revision to notify. */
	private changed = 0;
	/** All changes to notify; undefined if they are not known. */
	private news: Entry[] | undefined = [];
	private isClosed = false;
	/** How often in a row etcd has refused it. */
	private refusals = 0;

	/** @param seen returns the revision up to which the owner of `onHint` has seen everything */
	constructor(
		readonly selectors: readonly string[],
		private seen: number,
		private readonly onHint: OnHint,
	) {}

	/** etcd confirmed the watch, and reports changes after this revision. */
	grant(revision: number): void {
		this.refusals = 0;
		if (revision !== this.seen) this.hint();
	}

	/** Further changes may stay unseen until etcd watches again. */
	loseSight(): void {
		this.seen = Number.NaN;
	}

	/**
	 * Notifications that come together are merged.
	 * @param revision that of the last change; without it anything may have changed
	 * @param news the changes, if they are known
	 */
	hint(revision = Number.POSITIVE_INFINITY, news?: readonly Entry[]): void {
		this.changed = Math.max(this.changed, revision);
		if (news === undefined) this.news = undefined;
		else this.news?.push(...news);
		if (this.isHinting) return;
		this.isHinting = true;
		setImmediate(() => {
			const { changed, news } = this;
			this.isHinting = false;
			this.changed = 0;
			this.news = [];
			if (this.isClosed) return;
			if (Number.isFinite(changed)) this.onHint(changed, news);
			else this.onHint();
		});
	}

	/**
	 * Handles a refusal by etcd. Returns how long to wait before the next request, in milliseconds.
	 * @param isTokenRenewed whether the next request has a new token: the first refusal may have been for the old one
	 */
	refuse(isTokenRenewed: boolean): number {
		this.refusals += 1;
		if (isTokenRenewed && this.refusals === 1) return 0;
		return Math.min(
			LONGEST_REFUSAL_MS,
			SHORTEST_REFUSAL_MS * 2 ** (this.refusals - 1),
		);
	}

	close(): void {
		this.isClosed = true;
	}
}

interface OpenStream {
	readonly client: EtcdClient;
	readonly token: string | undefined;
	readonly requests: EtcdStream<WatchRequest>;
	/** Requested and not answered yet: etcd answers in order. */
	readonly asked: Watcher[];
	readonly byId: Map<string, Watcher>;
	cancelDeadline: () => void;
}

interface WatchStreamOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	/** How long etcd may take to confirm a watch. */
	readonly time: AnswerTime;
	readonly token: () => Promise<string | undefined>;
	/** etcd refused a watch with this token. */
	readonly onRefused: (token: string | undefined) => void;
	readonly onStreamEnd: (client: EtcdClient, status: Status) => void;
	/** Called with how many changes came in. */
	readonly onEvents: (count: number) => void;
}

/**
 * All watches of a store, over one stream. Nothing is replayed after a broken stream: all users are told to read as soon as
 * the next one watches.
 */
export class WatchStream {
	private readonly watchers = new Set<Watcher>();
	/** Watches that etcd refused, which wait before their next request. */
	private readonly refused = new Map<Watcher, () => void>();
	private stream: OpenStream | undefined;
	private isOpening = false;
	private readonly pauses: StreamPauses;
	private closed = false;

	constructor(private readonly options: WatchStreamOptions) {
		this.pauses = options.connections.pauses();
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		const watcher = new Watcher(selectors, afterRevision, onHint);
		if (!this.closed) this.add(watcher);
		return { close: () => this.remove(watcher) };
	}

	close(): void {
		this.closed = true;
		for (const watcher of [...this.watchers]) this.remove(watcher);
	}

	private add(watcher: Watcher): void {
		this.watchers.add(watcher);
		if (this.stream) this.ask(this.stream, watcher);
		else void this.open();
	}

	private remove(watcher: Watcher): void {
		watcher.close();
		this.watchers.delete(watcher);
		this.refused.get(watcher)?.();
		this.refused.delete(watcher);
		if (this.watchers.size === 0) {
			this.pauses.cancel();
			this.leave();
		}
		if (this.stream === undefined) return;
		for (const [id, other] of this.stream.byId) {
			if (other === watcher) this.cancel(this.stream, id);
		}
	}

	private async open(): Promise<void> {
		if (this.isOpening || this.pauses.isOn) return;
		this.isOpening = true;
		const token = await this.options.token().catch(() => null);
		this.isOpening = false;
		if (this.watchers.size === 0) return;
		if (token === null) this.startAgain();
		else this.start(token);
	}

	private start(token: string | undefined): void {
		const client = this.options.connections.current;
		const requests = client.watches(token, {
			onAnswer: (answer) => this.hear(stream, answer),
			onEnd: (status) => {
				this.options.onStreamEnd(client, status);
				this.startAgain();
			},
		});
		const stream: OpenStream = {
			client,
			token,
			requests,
			asked: [],
			byId: new Map(),
			cancelDeadline: () => {},
		};
		this.stream = stream;
		for (const watcher of this.watchers) this.ask(stream, watcher);
	}

	private ask(stream: OpenStream, watcher: Watcher): void {
		if (this.refused.has(watcher)) return;
		const isFirst = stream.asked.length === 0;
		for (const selector of watcher.selectors) {
			stream.asked.push(watcher);
			stream.requests.write({ create_request: encodeRange(selector) });
		}
		if (isFirst) this.expectAnswer(stream);
	}

	private expectAnswer(stream: OpenStream): void {
		const { clock, connections, time } = this.options;
		const { client } = stream;
		stream.cancelDeadline();
		if (stream.asked.length === 0) return;
		stream.cancelDeadline = expectAnswer(clock, client, time, (waitedMs) =>
			connections.giveUp(client, `no watch was granted within ${waitedMs} ms`),
		);
	}

	private hear(stream: OpenStream, answer: WatchResponse): void {
		if (answer.created) {
			this.hearCreated(stream, answer);
			return;
		}
		const watcher = stream.byId.get(answer.watch_id);
		if (watcher === undefined) return;
		this.options.onEvents(answer.events.length);
		if (answer.canceled) this.startAgain();
		else watcher.hint(Number(answer.header.revision), decodeNews(answer));
	}

	private hearCreated(stream: OpenStream, answer: WatchResponse): void {
		const watcher = stream.asked.shift();
		if (watcher === undefined) return;
		if (answer.canceled) {
			this.refuse(stream, watcher);
			return;
		}
		this.pauses.forgetFailures();
		this.expectAnswer(stream);
		if (!this.watchers.has(watcher)) {
			this.cancel(stream, answer.watch_id);
			return;
		}
		stream.byId.set(answer.watch_id, watcher);
		watcher.grant(Number(answer.header.revision));
	}

	/** After a refusal etcd 3.4 no longer reads this stream: the others need a new one. */
	private refuse(stream: OpenStream, watcher: Watcher): void {
		const { clock, onRefused } = this.options;
		onRefused(stream.token);
		const waitMs = watcher.refuse(stream.token !== undefined);
		if (waitMs > 0 && this.watchers.has(watcher)) {
			const askAgain = () => {
				this.refused.delete(watcher);
				if (this.stream) this.ask(this.stream, watcher);
			};
			this.refused.set(watcher, clock.wakeAt(clock.now() + waitMs, askAgain));
		}
		this.startAgain();
	}

	private cancel(stream: OpenStream, id: string): void {
		stream.byId.delete(id);
		stream.requests.write({ cancel_request: { watch_id: id } });
	}

	private startAgain(): void {
		this.leave();
		this.pauses.begin(() => void this.open());
	}

	private leave(): void {
		this.stream?.cancelDeadline();
		this.stream?.requests.close();
		this.stream = undefined;
		for (const watcher of this.watchers) watcher.loseSight();
	}
}
