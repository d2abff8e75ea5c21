import { type Clock, onBeat } from "../../base/clock.js";
import type { Lease, LeaseEvents, LeaseId } from "../store.js";
import type { Connections, StreamPauses } from "./calls.js";
import type { Status } from "./errors.js";
import type {
	EtcdClient,
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
} from "./etcd-client.js";
import {
	type EtcdStream,
	expectAnswer,
	keepaliveTime,
} from "./pending-calls.js";

/** One moment on each scale. The steady clock stops while a machine sleeps; the wall clock can be set. */
export interface Moment {
	readonly now: number;
	readonly wallTime: number;
	readonly asleep: number;
}

/** How far adjustments may move the wall clock, in milliseconds. Beyond that it was set, or the machine slept. */
const ADJUSTMENT_MS = 500;

export function momentOf(clock: Clock): Moment {
	return {
		now: clock.now(),
		wallTime: clock.wallTime(),
		asleep: clock.asleep(),
	};
}

/**
 * When a lease expires on the steady scale, given when its keepalive was sent. Time that the machine has slept since is
 * subtracted: the store was awake. Sleep is looked up only if the wall clock suggests it, because that takes a system
 * call or two.
 */
export function expiryOf(sent: Moment, ttlMs: number, clock: Clock): number {
	const passed = clock.now() - sent.now;
	const gained = clock.wallTime() - sent.wallTime - passed;
	const slept =
		Math.abs(gained) > ADJUSTMENT_MS ? clock.asleep() - sent.asleep : 0;
	return sent.now + ttlMs - Math.max(0, slept);
}

/** The number of keepalives per time to live. */
const KEEPALIVES_A_TTL = 5;

interface GrantedLease {
	readonly id: LeaseId;
	readonly ttlMs: number;
	readonly asOften?: number | undefined;
}

interface KeptLease {
	readonly id: LeaseId;
	readonly ttlMs: number;
	/** How often it is kept alive, in milliseconds. */
	readonly everyMs: number;
	readonly events: LeaseEvents;
	/** When the last acknowledged keepalive was sent. */
	acknowledged: Moment;
	answeredInMs: number;
	/** When the pending keepalive was sent. */
	asked: Moment | undefined;
	/** It waits for a stream. */
	isDue: boolean;
	cancelTimer: () => void;
}

interface LeaseKeeperOptions {
	readonly clock: Clock;
	readonly connections: Connections;
	readonly token: () => string | undefined;
	readonly onStreamEnd: (client: EtcdClient, status: Status) => void;
}

/**
 * Keeps leases alive, all over one stream. If a keepalive is not answered in time, the whole connection counts as broken,
 * because watches and calls share it.
 */
export class LeaseKeeper {
	private readonly leases = new Map<LeaseId, KeptLease>();
	private stream:
		| {
				readonly client: EtcdClient;
				readonly requests: EtcdStream<LeaseKeepAliveRequest>;
		  }
		| undefined;
	private readonly pauses: StreamPauses;
	private closed = false;

	constructor(private readonly options: LeaseKeeperOptions) {
		this.pauses = options.connections.pauses();
	}

	/**
	 * @param sent when the grant was requested
	 * @param revoke ends it in etcd
	 */
	keep(
		{ id, ttlMs, asOften = ttlMs }: GrantedLease,
		sent: Moment,
		events: LeaseEvents,
		revoke: () => Promise<void>,
	): Lease {
		const { clock } = this.options;
		const lease: KeptLease = {
			id,
			ttlMs,
			everyMs: asOften / KEEPALIVES_A_TTL,
			events,
			acknowledged: sent,
			answeredInMs: clock.now() - sent.now,
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
			get answeredInMs() {
				return lease.answeredInMs;
			},
			revoke: () => {
				this.forget(id);
				return revoke();
			},
		};
	}

	/** Handles etcd's report that a lease has ended; tells its holder if it is one of these. */
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
		this.pauses.cancel();
		this.stream?.requests.close();
		this.stream = undefined;
	}

	/** An agent's one lease uses the shared beat, so that it wakes once while idle; many leases would all come at once. */
	private askLater(lease: KeptLease): void {
		const { acknowledged, everyMs } = lease;
		const dueAt = acknowledged.now + everyMs;
		const at = this.leases.size > 1 ? dueAt : onBeat(dueAt, everyMs);
		lease.cancelTimer = this.options.clock.wakeAt(at, () => {
			lease.isDue = true;
			this.ask(lease);
		});
	}

	private ask(lease: KeptLease): void {
		lease.events.onKeepalive?.();
		const isGivenUp = !this.leases.has(lease.id);
		if (isGivenUp || this.pauses.isOn) return;
		const { clock, connections } = this.options;
		this.stream ??= this.open();
		const { client, requests } = this.stream;
		lease.isDue = false;
		lease.asked = momentOf(clock);
		const time = keepaliveTime(lease.ttlMs);
		lease.cancelTimer = expectAnswer(clock, client, time, (waitedMs) =>
			connections.giveUp(
				client,
				`no keepalive was answered within ${Math.round(waitedMs)} ms`,
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
		this.pauses.forgetFailures();
		const lease = this.leases.get(ID);
		if (lease?.asked === undefined) return;
		lease.cancelTimer();
		if (Number(TTL) <= 0) {
			this.lose(ID, "etcd says that the lease has ended");
			return;
		}
		lease.acknowledged = lease.asked;
		lease.answeredInMs = this.options.clock.now() - lease.asked.now;
		lease.asked = undefined;
		this.askLater(lease);
	}

	/** Pending keepalives of the ended stream are sent again over the next one. */
	private pause(client: EtcdClient, status: Status): void {
		this.stream = undefined;
		for (const lease of this.leases.values()) {
			if (lease.asked === undefined) continue;
			lease.cancelTimer();
			lease.asked = undefined;
			lease.isDue = true;
		}
		this.options.onStreamEnd(client, status);
		this.pauses.begin(() => {
			for (const lease of this.leases.values()) {
				if (lease.isDue) this.ask(lease);
			}
		});
	}
}
