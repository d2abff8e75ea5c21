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
import type { Clock } from "../../clock.js";
import { type CallOptions, callOptions } from "./call-options.js";
import { Sockets } from "./sockets.js";
import type { Status } from "./status.js";
import { forgoServerNameWarning, type Tls } from "./tls.js";
import {
	type EtcdStream,
	type OnEnd,
	type StreamHandlers,
	Underway,
} from "./underway.js";

export type {
	LeaseKeepAliveRequest,
	LeaseKeepAliveResponse,
	TxnRequest,
	TxnResponse,
	WatchRequest,
	WatchResponse,
};

/** How much longer than we wait etcd may work on a request, in milliseconds. */
const SERVER_GRACE_MS = 500;

export interface EtcdClientOptions {
	/** "host:port" or "https://host:port" */
	readonly endpoint: string;
	readonly tls?: Tls | undefined;
	readonly clock: Clock;
	/** Told of each message that is sent. */
	readonly onSent: () => void;
}

export interface CallSettings {
	/** How long an answer is waited for, in milliseconds. */
	readonly withinMs: number;
	readonly token: string | undefined;
}

type Policy = NonNullable<NonNullable<Options["faultHandling"]>["global"]>;

/** etcd3 tries again, and breaks circuits, by policies; here each call is one try. */
const ONCE = {
	execute: async (work: (context: object) => unknown) => work({}),
} as unknown as Policy;

const CHANNEL_OPTIONS = {
	"grpc.max_receive_message_length": -1,
	"grpc.keepalive_time_ms": 5_000,
	"grpc.keepalive_timeout_ms": 1_000,
	"grpc.initial_reconnect_backoff_ms": 100,
	"grpc.max_reconnect_backoff_ms": 500,
	"grpc.enable_http_proxy": 0,
	"grpc.enable_channelz": 0,
	"grpc.service_config_disable_resolution": 1,
	// One name may stand for several members: whoever comes again gets another.
	"grpc.service_config": JSON.stringify({
		loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }],
	}),
};

let connectionsMade = 0;

/**
 * The one door to etcd3: one connection to one etcd server, over which everything
 * goes; the first call makes it. etcd3 carries messages and decides nothing.
 */
export class EtcdClient {
	/** "host:port" */
	readonly endpoint: string;
	readonly sockets = new Sockets();
	/** When a message last came in, on the clock. */
	heardAt = Number.NEGATIVE_INFINITY;
	private readonly client: Etcd3;
	private readonly underway: Underway;

	/** @throws Error where the certificates cannot be used */
	constructor(private readonly options: EtcdClientOptions) {
		const { endpoint, tls } = options;
		this.endpoint = endpoint.replace(/^https:\/\//, "");
		this.underway = new Underway(options.clock);
		if (tls !== undefined || endpoint !== this.endpoint) {
			forgoServerNameWarning();
		}
		connectionsMade += 1;
		this.client = new Etcd3({
			hosts: endpoint,
			...(tls && { credentials: credentialsOf(tls) }),
			faultHandling: { host: () => ONCE, global: ONCE },
			// gRPC takes connections of the same options for one; this one is to be new.
			grpcOptions: { ...CHANNEL_OPTIONS, connection: connectionsMade },
		});
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
		withinMs: number,
	): Promise<AuthenticateResponse> {
		const { auth } = this.client;
		const request = { name: login.username, password: login.password };
		return this.call((options) => auth.authenticate(request, options), {
			withinMs,
			token: undefined,
		});
	}

	keepAlives(
		token: string | undefined,
		handlers: StreamHandlers<LeaseKeepAliveResponse>,
	): EtcdStream<LeaseKeepAliveRequest> {
		const { leaseClient } = this.client;
		return this.underway.stream(
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
		return this.underway.stream(
			(onEnd) =>
				this.start(token, onEnd, (options) => watchClient.watch(options)),
			handlers,
		);
	}

	/** Ends all that is under way as this says, and leaves no socket behind. */
	close(status: Status): void {
		this.underway.endAll(status);
		this.sockets.destroyAll(() => this.client.close());
	}

	private call<Answer>(
		start: (options: CallOptions) => Promise<Answer>,
		{ withinMs, token }: CallSettings,
	): Promise<Answer> {
		const deadline = this.options.clock.wallTime() + withinMs + SERVER_GRACE_MS;
		return this.underway.call(
			(onEnd) =>
				this.start(token, onEnd, (options) => start({ ...options, deadline })),
			withinMs,
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
	// etcd3's types ask for an authority; gRPC takes the system's where there is none.
	return {
		rootCertificate: ca as Buffer,
		...(key && { privateKey: key }),
		...(cert && { certChain: cert }),
	};
}
