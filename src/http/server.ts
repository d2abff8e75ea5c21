import { once } from "node:events";
import {
	createServer,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from "node:http";
import type { Clock } from "../base/clock.js";
import type { HttpAddress } from "../config/parse/endpoints.js";
import { type Answer, type Asked, COMMON_HEADERS, words } from "./answer.js";
import { Connections } from "./connections.js";

const LONGEST_HEADERS_BYTES = 8 * 1024;
/** Turns off Node's check for slow connections, which would wake the process for nothing: each connection has its limit here. */
const NEVER_MS = 2 ** 31 - 1;

export interface ServerOptions {
	readonly address: HttpAddress;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** Whether probes ask for this path; they are answered however busy the server is. */
	readonly isProbe: (path: string) => boolean;
	/** The answer to a request. If it rejects, the answer is 500. */
	readonly answer: (asked: Asked) => Promise<Answer>;
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
 * A small server for few readers: one request per connection, with limits on time and size. It does not keep the process
 * alive, and has no timer without connections. Rejects with the system's error if it cannot listen.
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
		(request, response) => {
			const answering = respond(request, response, connections, options);
			underWay.add(answering);
			void answering.finally(() => underWay.delete(answering));
		},
	);
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

function portOf(server: Server): number {
	const address = server.address();
	return typeof address === "object" && address !== null ? address.port : 0;
}

async function respond(
	request: IncomingMessage,
	response: ServerResponse,
	connections: Connections,
	{ answer, isProbe, onError }: ServerOptions,
): Promise<void> {
	// A client that hangs up does not get the rest.
	response.on("error", () => {});
	request.on("error", () => {});
	// The request's body is ignored.
	request.resume();
	const asked = readRequest(request);
	const refusal = connections.refusalOf(request.socket, isProbe(asked.path));
	try {
		send(request, response, refusal ?? (await answer(asked)));
	} catch (error) {
		onError(error);
		send(request, response, words(500, "an error of elastic-run's own"));
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

function readRequest(request: IncomingMessage): Asked {
	const { method = "", url = "", headers } = request;
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
