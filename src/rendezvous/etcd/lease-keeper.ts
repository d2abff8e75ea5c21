import { type Clock, onBeat } from "../../clock.js";
import type { Lease, LeaseEvents, LeaseId } from "../store.js";
import type { Connections } from "./connections.js";
import { expectBy } from "./deadline.js";
import type {
	EtcdClient,
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
} from "./etcd-client.js";
import { expiryOf, type Moment, momentOf } from "./expiry.js";
import type { Status } from "./status.js";
import type { EtcdStream } from "./underway.js";

/** Keepalives are sent this often in a time to live. */
const KEEPALIVES_A_TTL = 5;
/** The part of a time to live that an answer may take. */
const ANSWER_PART = 1 / 6;

interface KeptLease {
	readonly id: LeaseId;
	readonly ttlMs: number;
	readonly events: LeaseEvents;
	/** When the last keepalive that was acknowledged had been sent. */
	acknowledged: Moment;
	/** When one was sent that has not been answered yet. */
	asked: Moment | undefined;
	/** It waits for a stream. */
	isDue: boolean;
	cancelTimer: () => void;
}

export interface LeaseKeeperOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	/** What etcd knows us by, as far as it does. */
	readonly token: () => string | undefined;
	/** Told how the stream ended. */
	readonly onStreamEnd: (client: EtcdClient, status: Status) => void;
}

/**
 * Keeps leases alive, all over one stream. A keepalive that is not answered in
 * time is taken for the connection's end, because watches and calls share it.
 */
export class LeaseKeeper {
	private readonly leases = new Map<LeaseId, KeptLease>();
	private stream:
		| {
				readonly client: EtcdClient;
				readonly requests: EtcdStream<LeaseKeepAliveRequest>;
		  }
		| undefined;
	private cancelPause: (() => void) | undefined;
	/** How often in a row a stream has ended without an answer. */
	private failures = 0;
	private closed = false;

	constructor(private readonly options: LeaseKeeperOptions) {}

	/**
	 * @param sent when the grant was asked for
	 * @param revoke ends it in etcd
	 */
	keep(
		{ id, ttlMs }: { readonly id: LeaseId; readonly ttlMs: number },
		sent: Moment,
		events: LeaseEvents,
		revoke: () => Promise<void>,
	): Lease {
		const { clock } = this.options;
		const lease: KeptLease = {
			id,
			ttlMs,
			events,
			acknowledged: sent,
			asked: undefined,
			isDue: false,
			cancelTimer: () => {},
		};
		if (!this.closed) {
			this.leases.set(id, lease);
			this.askLater(lease);
		}
		return {
			id,
			ttlMs,
			get expiresAt() {
				return expiryOf(lease.acknowledged, ttlMs, clock);
			},
			revoke: () => {
				this.forget(id);
				return revoke();
			},
		};
	}

	/** etcd says that it has ended; who holds it is told, where it is one of these. */
	lose(id: LeaseId, reason: string): void {
		const lease = this.leases.get(id);
		this.forget(id);
		lease?.events.onLost(reason);
	}

	close(): void {
		this.closed = true;
		for (const id of [...this.leases.keys()]) this.forget(id);
	}

	private forget(id: LeaseId): void {
		this.leases.get(id)?.cancelTimer();
		this.leases.delete(id);
		if (this.leases.size > 0) return;
		this.cancelPause?.();
		this.cancelPause = undefined;
		this.stream?.requests.close();
		this.stream = undefined;
	}

	/** The one lease of an agent keeps to the beat of what else it does while idle; many would all come at once. */
	private askLater(lease: KeptLease): void {
		const afterMs = lease.ttlMs / KEEPALIVES_A_TTL;
		const dueAt = lease.acknowledged.now + afterMs;
		const at = this.leases.size > 1 ? dueAt : onBeat(dueAt, afterMs);
		lease.cancelTimer = this.options.clock.wakeAt(at, () => {
			lease.isDue = true;
			this.ask(lease);
		});
	}

	private ask(lease: KeptLease): void {
		lease.events.onKeepalive?.();
		const isGivenUp = !this.leases.has(lease.id);
		if (isGivenUp || this.cancelPause !== undefined) return;
		const { clock, connections } = this.options;
		this.stream ??= this.open();
		const { client, requests } = this.stream;
		const withinMs = lease.ttlMs * ANSWER_PART;
		lease.isDue = false;
		lease.asked = momentOf(clock);
		lease.cancelTimer = expectBy(clock, lease.asked.now + withinMs, () =>
			connections.giveUp(
				client,
				`no keepalive was answered within ${Math.round(withinMs)} ms`,
			),
		);
		requests.write({ ID: lease.id });
	}

	private open() {
		const client = this.options.connections.current;
		const requests = client.keepAlives(this.options.token(), {
			onAnswer: (answer) => this.hear(answer),
			onEnd: (status) => this.pause(client, status),
		});
		return { client, requests };
	}

	private hear({ ID, TTL }: LeaseKeepAliveResponse): void {
		this.failures = 0;
		const lease = this.leases.get(ID);
		if (lease?.asked === undefined) return;
		lease.cancelTimer();
		if (Number(TTL) <= 0) {
			this.lose(ID, "etcd says that the lease has ended");
			return;
		}
		lease.acknowledged = lease.asked;
		lease.asked = undefined;
		this.askLater(lease);
	}

	/** What was asked over the stream that has ended is asked again over the next one. */
	private pause(client: EtcdClient, status: Status): void {
		const { clock, connections, onStreamEnd } = this.options;
		this.stream = undefined;
		for (const lease of this.leases.values()) {
			if (lease.asked === undefined) continue;
			lease.cancelTimer();
			lease.asked = undefined;
			lease.isDue = true;
		}
		onStreamEnd(client, status);
		this.failures += 1;
		const at = clock.now() + connections.pauseMs(this.failures);
		this.cancelPause = clock.wakeAt(at, () => {
			this.cancelPause = undefined;
			for (const lease of this.leases.values()) {
				if (lease.isDue) this.ask(lease);
			}
		});
	}
}
