import { Duplex as NodeDuplex } from "node:stream";
import { connect } from "node:tls";
import {
	type CallOptions,
	InterceptingCall,
	type Requester,
	setLogger,
} from "@grpc/grpc-js";
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
import { backgroundClock, type Clock } from "../../base/clock.js";
import { CODE, type Status } from "./errors.js";
import {
	type AnswerTime,
	type Duplex,
	type EtcdStream,
	type OnEnd,
	PendingCalls,
	type StreamHandlers,
} from "./pending-calls.js";
import { outside, Sockets } from "./sockets.js";

function channelOptions({ withinMs }: AnswerTime) {
	return {
		"grpc.keepalive_timeout_ms": withinMs,
		"grpc.max_receive_message_length": -1,
		"grpc.keepalive_time_ms": 5_000,
		"grpc.initial_reconnect_backoff_ms": 100,
		"grpc.max_reconnect_backoff_ms": 500,
		"grpc.enable_http_proxy": 0,
		"grpc.enable_channelz": 0,
		"grpc.service_config_disable_resolution": 1,
		// One name may stand for several members: a second try gets another of them.
		"grpc.service_config": JSON.stringify({
			loadBalancingConfig: [{ pick_first: { shuffleAddressList: true } }],
		}),
	};
}

/** At other codes etcd3 would drop its connections, and at some details retry in a loop. */
const HARMLESS = { code: CODE.outOfRange, details: "" };

// The caller reports errors; gRPC need not print them on stderr as well.
setLogger({ error: () => {}, info: console.error, debug: console.error });

/** Contents of files, in PEM. */
export interface Tls {
	/** The trusted authorities; if absent, the system's. */
	readonly ca?: Buffer;
	readonly cert?: Buffer;
	readonly key?: Buffer;
}

let isForgone = false;

/**
 * gRPC sends the server's name in TLS even if it is an address. Node warns about that (DEP0123) once per process: this
 * uses up that warning without printing it.
 */
function forgoServerNameWarning(): void {
	if (isForgone) return;
	isForgone = true;
	const before = process.noDeprecation ?? false;
	process.noDeprecation = true;
	const nowhere = new NodeDuplex({ read() {}, write() {} });
	connect({ socket: nowhere, servername: "127.0.0.1" })
		.on("error", () => {})
		.destroy();
	process.noDeprecation = before;
}

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

/**
 * The time for a login, in milliseconds. etcd computes a deliberately slow hash, and after its restart for many agents at
 * once.
 */
const LOGIN_TIME: AnswerTime = { withinMs: 5_000, firstWithinMs: 10_000 };

export interface Credentials {
	readonly username: string;
	readonly password: string;
}

interface EtcdClientOptions {
	/** "host:port" or "https://host:port" */
	readonly endpoint: string;
	readonly tls?: Tls | undefined;
	readonly clock: Clock;
	readonly callTime: AnswerTime;
	/** Called for each message sent. */
	readonly onSent: () => void;
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
		token: string | undefined,
	): Promise<TxnResponse> {
		const { kv } = this.client;
		return this.call(token, (options) => kv.txn(request, options));
	}

	grantLease(
		ttlSeconds: number,
		token: string | undefined,
	): Promise<LeaseGrantResponse> {
		const { leaseClient } = this.client;
		const request = { TTL: ttlSeconds };
		return this.call(token, (options) =>
			leaseClient.leaseGrant(request, options),
		);
	}

	async revokeLease(id: string, token: string | undefined): Promise<void> {
		const { leaseClient } = this.client;
		const request = { ID: id };
		await this.call(token, (options) =>
			leaseClient.leaseRevoke(request, options),
		);
	}

	authenticate({
		username,
		password,
	}: Credentials): Promise<AuthenticateResponse> {
		const { auth } = this.client;
		const request = { name: username, password };
		return this.call(
			undefined,
			(options) => auth.authenticate(request, options),
			LOGIN_TIME,
		);
	}

	keepAlives(
		token: string | undefined,
		handlers: StreamHandlers<LeaseKeepAliveResponse>,
	): EtcdStream<LeaseKeepAliveRequest> {
		const { leaseClient } = this.client;
		return this.stream(
			token,
			(options) => leaseClient.leaseKeepAlive(options),
			handlers,
		);
	}

	watches(
		token: string | undefined,
		handlers: StreamHandlers<WatchResponse>,
	): EtcdStream<WatchRequest> {
		const { watchClient } = this.client;
		return this.stream(
			token,
			(options) => watchClient.watch(options),
			handlers,
		);
	}

	/** Ends everything in progress with this status, and leaves no socket open. */
	close(status: Status): void {
		this.pending.endAll(status);
		this.sockets.destroyAll(() => this.client.close());
	}

	private stream<Request, Answer>(
		token: string | undefined,
		open: (options: CallOptions) => Promise<Duplex<Request, Answer>>,
		{ onAnswer, onEnd }: StreamHandlers<Answer>,
	): EtcdStream<Request> {
		return this.pending.stream((ended) => this.start(token, ended, open), {
			onAnswer: (answer) => outside(() => onAnswer(answer)),
			onEnd: (status) => outside(() => onEnd(status)),
		});
	}

	private call<Answer>(
		token: string | undefined,
		start: (options: CallOptions) => Promise<Answer>,
		time = this.options.callTime,
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
		const observer = this.observer(token, onEnd);
		const options: CallOptions = {
			interceptors: [
				(given, nextCall) => new InterceptingCall(nextCall(given), observer),
			],
		};
		return this.sockets.within(() => work(options));
	}

	/** Learns from a call. etcd3 reacts to failures in its own way, so it only learns that there was one. */
	private observer(token: string | undefined, onEnd: OnEnd): Requester {
		return {
			start: (metadata, _listener, next) => {
				// A member without a leader then says so instead of not answering.
				metadata.set("hasleader", "true");
				if (token !== undefined) metadata.set("token", token);
				next(metadata, {
					onReceiveMessage: (message, pass) => {
						if (message !== null) this.received();
						pass(message);
					},
					onReceiveStatus: (status, pass) => {
						onEnd(status);
						const isGood = status.code === CODE.ok;
						pass(isGood ? status : { ...status, ...HARMLESS });
					},
				});
			},
			sendMessage: (message, pass) => {
				this.options.onSent();
				pass(message);
			},
		};
	}

	private received(): void {
		this.heardAt = this.options.clock.now();
		this.sockets.confirm();
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
