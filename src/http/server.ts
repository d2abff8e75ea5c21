import { once } from "node:events";
import {
	createServer,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../base/clock.js";
import type { HttpAddress } from "../config/index.js";
import {
	type Answer,
	COMMON_HEADERS,
	type HttpRequest,
	words,
} from "./answer.js";

const LONGEST_HEADERS_BYTES = 8 * 1024;
/** How long a connection may take to send its request, in milliseconds … */
const REQUEST_MS = 3_000;
/** … and to read the answer too. */
const CONNECTION_MS = 10_000;
/** The most connections with a request other than a probe. */
const MOST_REQUESTS = 64;
/** The most connections without a request yet. */
const MOST_SILENT = 16;
/** Includes room for probes. */
const MOST_CONNECTIONS = MOST_REQUESTS + 2 * MOST_SILENT;
/** Turns off Node's check for slow connections, which would wake the process for nothing: each connection has its limit here. */
const NEVER_MS = 2 ** 31 - 1;

const BUSY = words(
	503,
	`too busy: ${MOST_REQUESTS} requests are being answered; ask again in a second`,
	{ "Retry-After": "1" },
);

export interface ServerOptions {
	readonly address: HttpAddress;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** Whether probes ask for this path; they are answered however busy the server is. */
	readonly isProbe: (path: string) => boolean;
	/** The answer to a request. If it rejects, the answer is 500. */
	readonly answer: (request: HttpRequest) => Promise<Answer>;
	/** Called for each request that could not be answered. */
	readonly onError: (error: unknown) => void;
}

export interface OpenServer {
	/** The requested port, or the free one that was chosen. */
	readonly port: number;
	/** Resolves once all requests so far are answered. */
	settled(): Promise<unknown>;
	/** Closes at once, with all connections. */
	close(): void;
}

/**
 * A small server for few readers: one request per connection, with limits on time, size and number. It does not keep the
 * process alive, and has no timer without connections. Rejects with the system's error if it cannot listen.
 */
export async function openServer(options: ServerOptions): Promise<OpenServer> {
	const { address, clock } = options;
	const underWay = new Set<Promise<void>>();
	const connections = new Connections(clock);
	const server = createServer(
		{
			maxHeaderSize: LONGEST_HEADERS_BYTES,
			connectionsCheckingInterval: NEVER_MS,
			keepAlive: false,
		},
		(incoming, response) => {
			const answering = respond(incoming, response, connections, options);
			underWay.add(answering);
			void answering.finally(() => underWay.delete(answering));
		},
	);
	server.maxConnections = MOST_CONNECTIONS;
	server.on("connection", (socket) => connections.admit(socket));
	server.listen(address.port, address.host);
	await once(server, "listening");
	server.unref();
	// If the listener fails later, for lack of descriptors, only the observer suffers.
	server.on("error", options.onError);
	return {
		port: portOf(server),
		settled: () => Promise.all(underWay),
		close: () => {
			server.close();
			server.closeAllConnections();
		},
	};
}

/** Bounds the connections of a server. Slow clients block nobody: of those without a request the oldest goes. */
class Connections {
	/** Oldest first. */
	private readonly silent = new Set<Socket>();
	private requests = 0;

	constructor(private readonly clock: Clock) {}

	admit(socket: Socket): void {
		socket.unref();
		const [oldest] = this.silent;
		if (this.silent.size >= MOST_SILENT) this.end(oldest);
		this.silent.add(socket);
		const cancels = [
			this.wakeIn(REQUEST_MS, () => {
				if (this.silent.has(socket)) socket.destroy();
			}),
			this.wakeIn(CONNECTION_MS, () => socket.destroy()),
		];
		socket.once("close", () => {
			this.silent.delete(socket);
			for (const cancel of cancels) cancel();
		});
	}

	/** Call it when a connection has sent its request. Returns whether there is room for it. */
	accept(socket: Socket, isProbe: boolean): boolean {
		this.silent.delete(socket);
		if (isProbe) return true;
		if (this.requests >= MOST_REQUESTS) return false;
		this.requests += 1;
		socket.once("close", () => {
			this.requests -= 1;
		});
		return true;
	}

	private end(socket: Socket | undefined): void {
		if (socket !== undefined) this.silent.delete(socket);
		socket?.destroy();
	}

	private wakeIn(ms: number, wake: () => void): () => void {
		return this.clock.wakeAt(this.clock.now() + ms, wake);
	}
}

function portOf(server: Server): number {
	const address = server.address();
	return typeof address === "object" && address !== null ? address.port : 0;
}

async function respond(
	incoming: IncomingMessage,
	response: ServerResponse,
	connections: Connections,
	{ answer, isProbe, onError }: ServerOptions,
): Promise<void> {
	// A client that hangs up does not get the rest.
	response.on("error", () => {});
	incoming.on("error", () => {});
	// The request's body is ignored.
	incoming.resume();
	const request = readRequest(incoming);
	const hasRoom = connections.accept(incoming.socket, isProbe(request.path));
	try {
		send(incoming, response, hasRoom ? await answer(request) : BUSY);
	} catch (error) {
		onError(error);
		send(incoming, response, words(500, "an error of elastic-run's own"));
	}
}

function send(
	{ method }: IncomingMessage,
	response: ServerResponse,
	{ status, type, body, headers }: Answer,
): void {
	response.shouldKeepAlive = false;
	response.writeHead(status, {
		...COMMON_HEADERS,
		...headers,
		"Content-Type": type,
		"Content-Length": Buffer.byteLength(body),
	});
	response.end(method === "HEAD" ? undefined : body);
}

function readRequest(incoming: IncomingMessage): HttpRequest {
	const { method = "", url = "", headers } = incoming;
	const [path = "", ...query] = url.split("?");
	return {
		method,
		path,
		query: new URLSearchParams(query.join("?")),
		host: headers.host,
		authorization: headers.authorization,
		cookie: headers.cookie,
		length: lengthOf(headers),
	};
}

function lengthOf(headers: IncomingMessage["headers"]): number | undefined {
	if (headers["transfer-encoding"] !== undefined) return undefined;
	return Number(headers["content-length"] ?? 0);
}
