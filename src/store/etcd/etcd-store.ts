import type { Clock } from "../../base/clock.js";
import { ElasticRunError, messageOf } from "../../base/errors.js";
import type {
	Compare,
	Lease,
	LeaseEvents,
	LeaseId,
	OnHint,
	ReadBack,
	Snapshot,
	Store,
	TransactionResult,
	Watch,
	Write,
} from "../store.js";
import { Calls, Connections, LeaseEnded, Login } from "./calls.js";
import { decodeTransaction, encodeTransaction, readSnapshot } from "./codec.js";
import { type CredentialFiles, RenewedCredentials } from "./credentials.js";
import type { Status } from "./errors.js";
import type {
	Credentials,
	EtcdClient,
	Tls,
	TxnRequest,
	TxnResponse,
} from "./etcd-client.js";
import { LeaseKeeper, momentOf } from "./leases.js";
import { callTime } from "./pending-calls.js";
import { WatchStream } from "./watches.js";

export interface EtcdStoreOptions {
	/** "host:port", or "https://host:port" (all with TLS or none). */
	readonly endpoints: readonly string[];
	readonly clock: Clock;
	/** A number in [0, 1). */
	readonly random: () => number;
	/** The time to live of the leases, which limits how long an answer may take; default: 5 s. */
	readonly leaseTtlMs?: number | undefined;
	readonly login?: Credentials | undefined;
	readonly tls?: Tls | undefined;
	/** Where those are renewed while the run goes on. */
	readonly files?: CredentialFiles | undefined;
	/** Called when etcd does not ask for the login that it is given. Default: nothing. */
	readonly onUnasked?: (() => void) | undefined;
}

/** The store's traffic so far. */
export interface EtcdMetrics {
	/** TCP connections opened. */
	readonly connections: number;
	/** Messages sent. */
	readonly requests: number;
	/** Changes received over watches. */
	readonly events: number;
}

/**
 * Opens a store in etcd. Loads its packages and waits for no server: the first call connects.
 * @throws ElasticRunError USAGE if certificate, key or authority cannot be used
 */
export async function openEtcdStore(
	options: EtcdStoreOptions,
): Promise<EtcdStore> {
	const door = await import("./etcd-client.js");
	return new EtcdStore(options, (settings) => new door.EtcdClient(settings));
}

type Connect = (
	settings: ConstructorParameters<typeof EtcdClient>[0],
) => EtcdClient;

/** The store of a run over several machines: keys of etcd, leases that expire. */
export class EtcdStore implements Store {
	private readonly connections: Connections;
	private readonly calls: Calls;
	private readonly keeper: LeaseKeeper;
	private readonly watches: WatchStream;
	private readonly counts = { requests: 0, events: 0 };

	constructor(
		private readonly options: EtcdStoreOptions,
		connect: Connect,
	) {
		const { clock, leaseTtlMs } = options;
		const credentials = new RenewedCredentials(options);
		const time = callTime(leaseTtlMs);
		this.connections = new Connections({
			...options,
			connect: (endpoint) =>
				connect({
					endpoint,
					tls: credentials.tls,
					clock,
					callTime: time,
					onSent: () => {
						this.counts.requests += 1;
					},
				}),
		});
		const { connections } = this;
		const login = new Login(credentials, options.onUnasked);
		this.calls = new Calls({ clock, connections, login });
		const onStreamEnd = (client: EtcdClient, status: Status) => {
			this.calls.judge(client, status, Number.POSITIVE_INFINITY);
		};
		this.keeper = new LeaseKeeper({
			clock,
			connections,
			onStreamEnd,
			token: () => login.known?.token,
		});
		this.watches = new WatchStream({
			clock,
			connections,
			time,
			onStreamEnd,
			token: () => this.calls.token(),
			onRefused: (token) => login.forget(token),
			onEvents: (count) => {
				this.counts.events += count;
			},
		});
		refuseBadCertificates(connections);
	}

	get metrics(): EtcdMetrics {
		return { ...this.counts, connections: this.connections.opened };
	}

	async openLease(
		ttlMs: number,
		events: LeaseEvents,
		asOften?: number,
	): Promise<Lease> {
		const seconds = Math.max(1, Math.ceil(ttlMs / 1_000));
		let sent = momentOf(this.options.clock);
		const { ID, TTL } = await this.calls.make((client, token) => {
			sent = momentOf(this.options.clock);
			return client.grantLease(seconds, token);
		});
		// etcd grants more than was asked for if its own time-outs require it.
		const granted = { id: ID, ttlMs: Number(TTL) * 1_000, asOften };
		return this.keeper.keep(granted, sent, events, () => this.endLease(ID));
	}

	async endLease(id: LeaseId): Promise<void> {
		try {
			await this.calls.make((client, token) => client.revokeLease(id, token));
		} catch (error) {
			if (!(error instanceof LeaseEnded)) throw error;
		}
	}

	snapshot(selectors: readonly string[], known?: Snapshot): Promise<Snapshot> {
		return readSnapshot(selectors, known, (request) => this.send(request));
	}

	async transaction(
		compares: readonly Compare[],
		writes: readonly Write[],
		reads: ReadBack = {},
	): Promise<TransactionResult> {
		const request = encodeTransaction(compares, writes, reads);
		try {
			return decodeTransaction(await this.send(request), reads);
		} catch (error) {
			throw error instanceof LeaseEnded ? this.leaseEndedIn(writes) : error;
		}
	}

	watch(
		selectors: readonly string[],
		afterRevision: number,
		onHint: OnHint,
	): Watch {
		return this.watches.watch(selectors, afterRevision, onHint);
	}

	async close(): Promise<void> {
		this.keeper.close();
		this.watches.close();
		this.connections.close();
	}

	private send(request: TxnRequest): Promise<TxnResponse> {
		return this.calls.make((client, token) =>
			client.transaction(request, token),
		);
	}

	/** If the writes name more than one lease, the next keepalives show which has ended. */
	private leaseEndedIn(writes: readonly Write[]): ElasticRunError {
		const ids = new Set(
			writes.flatMap((write) => ("put" in write ? (write.lease ?? []) : [])),
		);
		const names = [...ids].join(" or ");
		const [id] = ids;
		if (id !== undefined && ids.size === 1) {
			this.keeper.lose(
				id,
				"etcd refuses to write under the lease: it has ended",
			);
		}
		return new ElasticRunError(
			"STORE_UNREACHABLE",
			`cannot write under the lease ${names}: it has ended; open a new one`,
		);
	}
}

/** @throws ElasticRunError USAGE */
function refuseBadCertificates(connections: Connections): void {
	try {
		void connections.current;
	} catch (error) {
		throw new ElasticRunError(
			"USAGE",
			`cacert, cert and key of --rdzv-conf cannot be used: ${messageOf(error)}; they are to be files in PEM, and cert and key of one pair`,
			{ cause: error },
		);
	}
}
