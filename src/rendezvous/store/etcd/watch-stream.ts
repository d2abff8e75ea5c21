import type { Clock } from "../../../base/clock.js";
import type { OnHint, Watch } from "../store.js";
import type { AnswerTime } from "./answer-times.js";
import { encodeRange } from "./codec.js";
import type { Connections } from "./connections.js";
import { expectAnswer } from "./deadline.js";
import type { EtcdClient, WatchRequest, WatchResponse } from "./etcd-client.js";
import type { EtcdStream } from "./pending-calls.js";
import type { Status } from "./status.js";
import { Watcher } from "./watcher.js";

interface OpenStream {
	readonly client: EtcdClient;
	readonly token: string | undefined;
	readonly requests: EtcdStream<WatchRequest>;
	/** Requested and not answered yet: etcd answers in order. */
	readonly asked: Watcher[];
	readonly byId: Map<string, Watcher>;
	cancelDeadline: () => void;
}

export interface WatchStreamOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	/** How long etcd may take to confirm a watch. */
	readonly time: AnswerTime;
	/** The token for etcd. */
	readonly token: () => Promise<string | undefined>;
	/** etcd refused a watch with this token. */
	readonly onRefused: (token: string | undefined) => void;
	/** Called with how a stream ended. */
	readonly onStreamEnd: (client: EtcdClient, status: Status) => void;
	/** Called with how many changes came in. */
	readonly onEvents: (count: number) => void;
}

/**
 * All watches of a store, over one stream. It does not look at events: each only says that something has changed. So
 * nothing must be replayed after a broken stream: all users are told to read as soon as the next one watches.
 */
export class WatchStream {
	private readonly watchers = new Set<Watcher>();
	/** Watches that etcd refused, which wait before their next request. */
	private readonly refused = new Map<Watcher, () => void>();
	private stream: OpenStream | undefined;
	private isOpening = false;
	private cancelPause: (() => void) | undefined;
	/** How often in a row a stream has ended without an answer. */
	private failures = 0;
	private closed = false;

	constructor(private readonly options: WatchStreamOptions) {}

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
			this.cancelPause?.();
			this.cancelPause = undefined;
			this.leave();
		}
		if (this.stream === undefined) return;
		for (const [id, other] of this.stream.byId) {
			if (other === watcher) this.cancel(this.stream, id);
		}
	}

	private async open(): Promise<void> {
		if (this.isOpening || this.cancelPause !== undefined) return;
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
		else watcher.hint(Number(answer.header.revision));
	}

	private hearCreated(stream: OpenStream, answer: WatchResponse): void {
		const watcher = stream.asked.shift();
		if (watcher === undefined) return;
		if (answer.canceled) {
			this.refuse(stream, watcher);
			return;
		}
		this.failures = 0;
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
		const { clock, connections } = this.options;
		this.leave();
		this.failures += 1;
		const at = clock.now() + connections.pauseMs(this.failures);
		this.cancelPause = clock.wakeAt(at, () => {
			this.cancelPause = undefined;
			void this.open();
		});
	}

	private leave(): void {
		this.stream?.cancelDeadline();
		this.stream?.requests.close();
		this.stream = undefined;
		for (const watcher of this.watchers) watcher.loseSight();
	}
}
