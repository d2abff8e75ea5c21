import { once } from "node:events";
import {
	createServer,
	type IncomingMessage,
	type Server,
	type ServerResponse,
} from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "../../clock.js";
import type { HttpAddress } from "../configuration/parse/http-address.js";
import { type Answer, type Asked, COMMON_HEADERS, words } from "./answer.js";

/** A connection has this long to ask and to take its answer, in milliseconds. */
const CONNECTION_MS = 10_000;
const MOST_CONNECTIONS = 64;
const LONGEST_HEADERS_BYTES = 8 * 1024;
/** Node's own look at slow connections, which would wake the process for nothing: each has a limit of its own. */
const NEVER_MS = 2 ** 31 - 1;

export interface ServerOptions {
	readonly address: HttpAddress;
	/** Its timers must let the process end. */
	readonly clock: Clock;
	/** What a request is answered. Where it rejects, the answer is 500. */
	readonly answer: (asked: Asked) => Promise<Answer>;
	/** Told of each request that could not be answered. */
	readonly onError: (error: unknown) => void;
}

export interface OpenServer {
	/** The one that was asked for, or the free one. */
	readonly port: number;
	/** Resolves when all that was asked so far is answered. */
	settled(): Promise<unknown>;
	/** At once, with all connections. */
	close(): void;
}

/**
 * A small server for few readers: one request a connection, within a bounded
 * time and of a bounded size. It keeps no process alive, and has no timer while
 * nobody is connected. Rejects with the system's error where it cannot listen.
 */
export async function openServer(options: ServerOptions): Promise<OpenServer> {
	const { address, clock } = options;
	const underWay = new Set<Promise<void>>();
	const server = createServer(
		{
			maxHeaderSize: LONGEST_HEADERS_BYTES,
			connectionsCheckingInterval: NEVER_MS,
			keepAlive: false,
		},
		(request, response) => {
			const answering = respond(request, response, options);
			underWay.add(answering);
			void answering.finally(() => underWay.delete(answering));
		},
	);
	server.maxConnections = MOST_CONNECTIONS;
	server.on("connection", (socket: Socket) => {
		socket.unref();
		const cancel = clock.wakeAt(clock.now() + CONNECTION_MS, () =>
			socket.destroy(),
		);
		socket.once("close", cancel);
	});
	server.listen(address.port, address.host);
	await once(server, "listening");
	server.unref();
	// A listener that fails later, for want of descriptors, is the observer's trouble alone.
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
	{ answer, onError }: ServerOptions,
): Promise<void> {
	// Whoever hangs up does not get the rest.
	response.on("error", () => {});
	request.on("error", () => {});
	// What it brings along is not looked at.
	request.resume();
	try {
		send(request, response, await answer(readRequest(request)));
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
