import { pause } from "../../../../../src/base/back-off.js";
import {
	type Status,
	StatusError,
} from "../../../../../src/rendezvous/store/etcd/errors.js";
import type {
	EtcdClient,
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
	TxnRequest,
	TxnResponse,
	WatchRequest,
	WatchResponse,
} from "../../../../../src/rendezvous/store/etcd/etcd-client.js";
import { EtcdStore } from "../../../../../src/rendezvous/store/etcd/etcd-store.js";
import type { StreamHandlers } from "../../../../../src/rendezvous/store/etcd/pending-calls.js";
import {
	clockFromNow,
	type VirtualClock,
} from "../../../../helpers/virtual-clock.js";

/** How long anything takes on its way to etcd and back, in milliseconds. */
const LATENCY_MS = 1;
const REFUSED: Status = {
	code: 14,
	details:
		"No connection established. Last error: Error: connect ECONNREFUSED 127.0.0.1:2379",
};
const DROPPED: Status = { code: 14, details: "Connection dropped" };
const TTL_SECONDS = 10;
const HEADER = {
	cluster_id: "1",
	member_id: "1",
	revision: "1",
	raft_term: "1",
};

/** One try of a store to reach etcd: each goes over a connection of its own. */
export interface Try {
	readonly store: number;
	/** On the clock. */
	readonly at: number;
}

/** An etcd that goes away and comes back for all stores at once. It answers, and keeps nothing. */
export class MortalEtcd {
	readonly tries: Try[] = [];
	private readonly connections = new Set<Connection>();
	private isUp = true;
	private storesMade = 0;

	constructor(readonly clock: VirtualClock) {}

	/** A real store over connections to it, in a process that starts now: its clock begins with it. */
	store(random: () => number): EtcdStore {
		const store = this.storesMade++;
		const clock = clockFromNow(this.clock);
		return new EtcdStore({ endpoints: ["etcd:2379"], clock, random }, () => {
			this.tries.push({ store, at: this.clock.now() });
			const connection = new Connection(this.clock, () => this.isUp);
			this.connections.add(connection);
			return connection as unknown as EtcdClient;
		});
	}

	goAway(): void {
		this.isUp = false;
		for (const connection of this.connections) connection.close(DROPPED);
		this.connections.clear();
	}

	comeBack(): void {
		this.isUp = true;
	}
}

class Connection {
	readonly endpoint = "etcd:2379";
	readonly sockets = { opened: 1, bytesRead: 0, bytesWritten: 0 };
	readonly heardAt = Number.NEGATIVE_INFINITY;
	private readonly ends = new Set<(status: Status) => void>();

	constructor(
		private readonly clock: VirtualClock,
		private readonly isUp: () => boolean,
	) {}

	async transaction({ success = [] }: TxnRequest): Promise<TxnResponse> {
		await this.answer();
		const responses = success.map(() => ({
			response_range: { kvs: [], count: "0" },
		}));
		return { header: HEADER, succeeded: true, responses } as never;
	}

	async grantLease() {
		await this.answer();
		return { ID: "1", TTL: String(TTL_SECONDS) };
	}

	keepAlives(
		_token: string | undefined,
		handlers: StreamHandlers<LeaseKeepAliveResponse>,
	) {
		return this.stream(handlers, ({ ID = "" }: LeaseKeepAliveRequest) => ({
			header: HEADER,
			ID: String(ID),
			TTL: String(TTL_SECONDS),
		}));
	}

	watches(_token: string | undefined, handlers: StreamHandlers<WatchResponse>) {
		const created = { header: HEADER, watch_id: "0", created: true };
		return this.stream(handlers, (_request: WatchRequest) => created as never);
	}

	close(status: Status): void {
		for (const end of [...this.ends]) end(status);
	}

	private async answer(): Promise<void> {
		const wasUp = this.isUp();
		await pause(this.clock, LATENCY_MS);
		if (!wasUp || !this.isUp()) throw new StatusError(REFUSED);
	}

	private stream<Request, Answer>(
		{ onAnswer, onEnd }: StreamHandlers<Answer>,
		answerTo: (request: Request) => Answer,
	) {
		const end = (status: Status) => {
			if (this.ends.delete(end)) onEnd(status);
		};
		this.ends.add(end);
		const write = (request: Request) => {
			this.answer().then(
				() => this.ends.has(end) && onAnswer(answerTo(request)),
				() => end(REFUSED),
			);
		};
		return { write, close: () => void this.ends.delete(end) };
	}
}
