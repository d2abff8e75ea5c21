import type { IncomingMessage } from "node:http";
import type { Clock } from "../../base/clock.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";

/** More than any response of a metadata service. */
const LARGEST_BYTES = 256 * 1024;
const LARGEST_HEAD_BYTES = 16 * 1024;

/** How a server ends a kept connection. */
const CONNECTION_ENDS: readonly (string | undefined)[] = [
	"ECONNRESET",
	"EPIPE",
];

/** A request to a metadata service. */
export interface HttpRequest {
	readonly method: "GET" | "PUT" | "POST";
	readonly url: string;
	readonly headers: Readonly<Record<string, string>>;
	readonly body?: string | undefined;
	/** How long the whole exchange may take, in milliseconds. */
	readonly timeoutMs: number;
}

export interface HttpResponse {
	readonly status: number;
	/** By their names in lower case. */
	readonly headers: Readonly<Record<string, string | undefined>>;
	readonly body: string;
}

/** The way to the metadata services. */
export interface Transport {
	/** Rejects with an Error that says in words why there was no response. Redirects are responses; none is followed. */
	fetch(request: HttpRequest): Promise<HttpResponse>;
	/** Ends all exchanges and connections. */
	close(): void;
}

/** How long an ordinary exchange may take, in milliseconds. */
const RESPONSE_WITHIN_MS = 2_000;

/** A response, and whose it is. */
export interface Exchange {
	readonly url: string;
	readonly response: HttpResponse;
}

/** The metadata service of a cloud, at its address. */
export class MetadataService {
	readonly place: string;

	constructor(
		private readonly transport: Transport,
		place: string,
	) {
		this.place = place.replace(/\/+$/, "");
	}

	/** Any response. */
	async fetch(
		path: string,
		headers: HttpRequest["headers"],
		about: Partial<Pick<HttpRequest, "method" | "timeoutMs" | "body">> = {},
	): Promise<Exchange> {
		const url = this.place + path;
		const response = await this.transport.fetch({
			method: "GET",
			timeoutMs: RESPONSE_WITHIN_MS,
			...about,
			url,
			headers,
		});
		return { url, response };
	}

	/** Rejects with any status but 200. */
	async get(
		...request: Parameters<MetadataService["fetch"]>
	): Promise<Exchange> {
		return expectSuccess(await this.fetch(...request));
	}
}

/** Throws, in words, if the status is not 200. */
export function expectSuccess(exchange: Exchange): Exchange {
	const { url, response } = exchange;
	const { status, headers } = response;
	if (status === 200) return exchange;
	const where =
		status >= 300 && status < 400 && headers.location !== undefined
			? ", a redirect, which is not followed"
			: "";
	throw new Error(`${url} answers with status ${status}${where}`);
}

/** The response is none that this service gives. */
export function unexpectedBody(url: string): Error {
	return new Error(`${url} answers with something unexpected`);
}

/** The service closed a kept connection just when it was used again. */
class StaleConnection extends Error {}

/**
 * HTTP over kept connections. An agent of its own uses no proxy, whatever the environment says: a link-local address must
 * not be requested there. Its sockets let the process end.
 */
export class HttpTransport implements Transport {
	/** Loaded on demand: it takes some milliseconds, and most machines are in no cloud. */
	private readonly http = import("node:http");
	private readonly agent = this.http.then(
		({ Agent }) => new Agent({ keepAlive: true }),
	);
	private isClosed = false;

	/** @param clock its timers let the process end */
	constructor(private readonly clock: Clock) {}

	async fetch(wanted: HttpRequest): Promise<HttpResponse> {
		for (;;) {
			try {
				return await this.once(wanted);
			} catch (error) {
				if (!(error instanceof StaleConnection) || this.isClosed) throw error;
			}
		}
	}

	close(): void {
		this.isClosed = true;
		void this.agent.then((agent) => agent.destroy());
	}

	private async once(wanted: HttpRequest): Promise<HttpResponse> {
		const { method, headers, body, timeoutMs } = wanted;
		const url = new URL(wanted.url);
		if (url.protocol !== "http:") throw new Error(`${url} is not http://`);
		const { request } = await this.http;
		const agent = await this.agent;
		if (this.isClosed) throw new Error(`${url}: nothing is requested any more`);
		const sent = request(url, {
			method,
			headers,
			agent,
			maxHeaderSize: LARGEST_HEAD_BYTES,
		});
		let response: IncomingMessage | undefined;
		const cancel = this.clock.wakeAt(this.clock.now() + timeoutMs, () => {
			const problem = new Error(`no answer within ${timeoutMs / 1_000} s`);
			(response ?? sent).destroy(problem);
		});
		try {
			response = await new Promise<IncomingMessage>((resolve, reject) => {
				sent.on("response", resolve).on("error", reject);
				sent.on("socket", (socket) => socket.unref());
				sent.end(body);
			});
			return await read(response);
		} catch (error) {
			const words = `${wanted.url}: ${messageOf(error)}`;
			const isStale =
				sent.reusedSocket && CONNECTION_ENDS.includes(systemErrorCode(error));
			throw isStale && response === undefined
				? new StaleConnection(words)
				: new Error(words);
		} finally {
			cancel();
		}
	}
}

async function read(response: IncomingMessage): Promise<HttpResponse> {
	const parts: Buffer[] = [];
	let size = 0;
	for await (const part of response) {
		parts.push(part);
		size += part.length;
		if (size > LARGEST_BYTES) {
			throw new Error(`an answer of more than ${LARGEST_BYTES / 1024} KiB`);
		}
	}
	const headers = Object.entries(response.headers).map(([name, value]) => [
		name,
		String(value),
	]);
	return {
		status: response.statusCode ?? 0,
		headers: Object.fromEntries(headers),
		body: Buffer.concat(parts).toString(),
	};
}
