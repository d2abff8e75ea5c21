import {
	type IAuthenticateResponse as AuthenticateResponse,
	Etcd3,
	type ILeaseGrantResponse as LeaseGrantResponse,
	type ILeaseKeepAliveRequest as LeaseKeepAliveRequest,
	type ILeaseKeepAliveResponse as LeaseKeepAliveResponse,
	type IOptions as Options,
	type ITxnRequest as TxnRequest,
	type ITxnResponse as TxnResponse,
	type IWatchRequest as WatchRequest,
	type IWatchResponse as WatchResponse,
} from "etcd3";
import { backgroundClock, type Clock } from "../../../base/clock.js";
import type { AnswerTime } from "./answer-times.js";
import { type CallOptions, callOptions } from "./call-options.js";
import { channelOptions } from "./channel-options.js";
import {
	type EtcdStream,
	type OnEnd,
	PendingCalls,
	type StreamHandlers,
} from "./pending-calls.js";
import { Sockets } from "./sockets.js";
import type { Status } from "./status.js";
import { forgoServerNameWarning, type Tls } from "./tls.js";

export type {
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
	TxnRequest,
	TxnResponse,
	WatchRequest,
	WatchResponse,
};

/** How much longer than this client waits etcd may work on a request, in milliseconds. */
const SERVER_GRACE_MS = 500;

export interface EtcdClientOptions {
	/** "host:port" or "https://host:port" */
	readonly endpoint: string;
	readonly tls?: Tls | undefined;
	readonly clock: Clock;
	readonly callTime: AnswerTime;
	/** Called for each message sent. */
	readonly onSent: () => void;
}

export interface CallSettings {
	readonly time: AnswerTime;
	readonly token: string | undefined;
}

type Policy = NonNullable<NonNullable<Options["faultHandling"]>["global"]>;

/** etcd3 has policies for retries and circuit breaking; here each call is one try. */
const ONCE = {
	execute: async (work: (context: object) => unknown) => work({}),
} as unknown as Policy;

let connectionsMade = 0;

/**
 * The only user of etcd3: one connection to one etcd server, made by the first call. etcd3 carries messages and decides
 * nothing.
 */
export class EtcdClient {
	/** "host:port" */
	readonly endpoint: string;
	readonly sockets = new Sockets(backgroundClock);
	/** When a message was last received, on the clock. */
	heardAt = Number.NEGATIVE_INFINITY;
	private readonly client: Etcd3;
	private readonly pending: PendingCalls;

	/** @throws Error if the certificates cannot be used */
	constructor(private readonly options: EtcdClientOptions) {
		const { endpoint, tls } = options;
		this.endpoint = endpoint.replace(/^https:\/\//, "");
		this.pending = new PendingCalls(options.clock, this);
		if (tls !== undefined || endpoint !== this.endpoint) {
			forgoServerNameWarning();
		}
		connectionsMade += 1;
		this.client = new Etcd3({
			hosts: endpoint,
			...(tls && { credentials: credentialsOf(tls) }),
			faultHandling: { host: () => ONCE, global: ONCE },
			// gRPC shares connections with equal options; this one must be new.
			grpcOptions: {
				...channelOptions(options.callTime),
				connection: connectionsMade,
			},
		});
	}

	get isReached(): boolean {
		return this.sockets.isReached;
	}

	transaction(
		request: TxnRequest,
		settings: CallSettings,
	): Promise<TxnResponse> {
		const { kv } = this.client;
		return this.call((options) => kv.txn(request, options), settings);
	}

	grantLease(
		ttlSeconds: number,
		settings: CallSettings,
	): Promise<LeaseGrantResponse> {
		const { leaseClient } = this.client;
		const request = { TTL: ttlSeconds };
		return this.call(
			(options) => leaseClient.leaseGrant(request, options),
			settings,
		);
	}

	async revokeLease(id: string, settings: CallSettings): Promise<void> {
		const { leaseClient } = this.client;
		const request = { ID: id };
		await this.call(
			(options) => leaseClient.leaseRevoke(request, options),
			settings,
		);
	}

	authenticate(
		login: { readonly username: string; readonly password: string },
		time: AnswerTime,
	): Promise<AuthenticateResponse> {
		const { auth } = this.client;
		const request = { name: login.username, password: login.password };
		return this.call((options) => auth.authenticate(request, options), {
			time,
			token: undefined,
		});
	}

	keepAlives(
		token: string | undefined,
		handlers: StreamHandlers<LeaseKeepAliveResponse>,
	): EtcdStream<LeaseKeepAliveRequest> {
		const { leaseClient } = this.client;
		return this.pending.stream(
			(onEnd) =>
				this.start(token, onEnd, (options) =>
					leaseClient.leaseKeepAlive(options),
				),
			handlers,
		);
	}

	watches(
		token: string | undefined,
		handlers: StreamHandlers<WatchResponse>,
	): EtcdStream<WatchRequest> {
		const { watchClient } = this.client;
		return this.pending.stream(
			(onEnd) =>
				this.start(token, onEnd, (options) => watchClient.watch(options)),
			handlers,
		);
	}

	/** Ends everything in progress with this status, and leaves no socket open. */
	close(status: Status): void {
		this.pending.endAll(status);
		this.sockets.destroyAll(() => this.client.close());
	}

	private call<Answer>(
		start: (options: CallOptions) => Promise<Answer>,
		{ time, token }: CallSettings,
	): Promise<Answer> {
		const longestMs = Math.max(time.withinMs, time.firstWithinMs);
		const deadline =
			this.options.clock.wallTime() + longestMs + SERVER_GRACE_MS;
		return this.pending.call(
			(onEnd) =>
				this.start(token, onEnd, (options) => start({ ...options, deadline })),
			time,
		);
	}

	private start<Result>(
		token: string | undefined,
		onEnd: OnEnd,
		work: (options: CallOptions) => Result,
	): Result {
		const { clock, onSent } = this.options;
		const onReceived = () => {
			this.heardAt = clock.now();
			this.sockets.confirm();
		};
		const options = callOptions(token, { onSent, onReceived, onEnd });
		return this.sockets.within(() => work(options));
	}
}

function credentialsOf({
	ca,
	cert,
	key,
}: Tls): NonNullable<Options["credentials"]> {
	// etcd3's types require an authority; without one gRPC uses the system's.
	return {
		rootCertificate: ca as Buffer,
		...(key && { privateKey: key }),
		...(cert && { certChain: cert }),
	};
}
