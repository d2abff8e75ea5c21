import { connect, type Socket } from "node:net";
import type { Clock } from "../../base/clock.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import type { Answer, Ask, Transport } from "./exchange.js";
import { readAnswer } from "./read-answer.js";

const HTTP_PORT = 80;
/** How a server ends a kept connection. */
const ENDS: readonly (string | undefined)[] = ["ECONNRESET", "EPIPE"];

/**
 * The real transport: HTTP over sockets of its own, which stay open. A look each second through node:http takes several
 * times as much of a processor. No proxy is asked, whatever the environment says, because a link-local address must not
 * be asked for there. Its sockets and timers let the process end.
 */
export class HttpTransport implements Transport {
	/** Kept connections, by host and port. */
	private readonly idle = new Map<string, Socket[]>();
	private readonly open = new Set<Socket>();
	private isClosed = false;

	/** @param clock its timers let the process end */
	constructor(private readonly clock: Clock) {}

	async exchange(ask: Ask): Promise<Answer> {
		const url = new URL(ask.url);
		if (url.protocol !== "http:") throw new Error(`${ask.url} is not http://`);
		const kept = this.idle.get(url.host)?.pop();
		if (kept !== undefined) {
			try {
				return await this.once(ask, url, kept);
			} catch (error) {
				// The service may close a kept connection just when it is used again.
				if (!(error instanceof StaleConnection) || this.isClosed) throw error;
			}
		}
		return this.once(ask, url, this.connect(url));
	}

	close(): void {
		this.isClosed = true;
		for (const socket of this.open) socket.destroy();
	}

	private connect({ host, hostname, port }: URL): Socket {
		const socket = connect({
			host: hostname.replace(/^\[|\]$/g, ""),
			port: port === "" ? HTTP_PORT : Number(port),
			noDelay: true,
		});
		socket.unref();
		this.open.add(socket);
		socket.on("close", () => this.forget(host, socket));
		// Its user hears of it as well.
		socket.on("error", () => {});
		return socket;
	}

	private once(ask: Ask, url: URL, socket: Socket): Promise<Answer> {
		const isReused = socket.bytesWritten > 0;
		return new Promise((resolve, reject) => {
			let sent: Buffer = Buffer.alloc(0);
			const cancel = this.clock.wakeAt(this.clock.now() + ask.timeoutMs, () =>
				fail(`no answer within ${ask.timeoutMs / 1_000} s`),
			);
			const finish = () => {
				cancel();
				socket.off("data", onData).off("end", onEnd);
				socket.off("error", fail).off("close", onClose);
			};
			const fail = (problem: unknown) => {
				finish();
				socket.destroy();
				const isStale = isReused && sent.length === 0 && isEndOf(problem);
				reject(problemOf(ask.url, problem, isStale));
			};
			const look = (isEnded: boolean) => {
				try {
					const read = readAnswer(sent, isEnded);
					if (read === undefined) return;
					finish();
					if (read.isKept && !this.isClosed) this.keep(url.host, socket);
					else socket.destroy();
					resolve(read.answer);
				} catch (error) {
					fail(error);
				}
			};
			const onData = (part: Buffer) => {
				sent = sent.length === 0 ? part : Buffer.concat([sent, part]);
				look(false);
			};
			const onEnd = () => (sent.length === 0 ? onClose() : look(true));
			const onClose = () => fail(CLOSED);
			socket.on("data", onData).on("end", onEnd);
			socket.on("error", fail).on("close", onClose);
			socket.write(requestText(ask, url));
		});
	}

	private keep(host: string, socket: Socket): void {
		const kept = this.idle.get(host) ?? [];
		this.idle.set(host, [...kept, socket]);
	}

	private forget(host: string, socket: Socket): void {
		this.open.delete(socket);
		const kept = this.idle.get(host) ?? [];
		this.idle.set(
			host,
			kept.filter((one) => one !== socket),
		);
	}
}

const CLOSED = "the connection was closed";

class StaleConnection extends Error {}

function isEndOf(problem: unknown): boolean {
	return problem === CLOSED || ENDS.includes(systemErrorCode(problem));
}

function requestText(ask: Ask, { host, pathname, search }: URL): string {
	const { method, headers, body = "" } = ask;
	const fields = Object.entries({
		host,
		...headers,
		...(method !== "GET" && { "content-length": Buffer.byteLength(body) }),
	});
	const lines = fields.map(([name, value]) => `${name}: ${value}\r\n`);
	return `${method} ${pathname}${search} HTTP/1.1\r\n${lines.join("")}\r\n${body}`;
}

function problemOf(url: string, problem: unknown, isStale: boolean): Error {
	const words = typeof problem === "string" ? problem : messageOf(problem);
	const text = `${url}: ${words}`;
	return isStale ? new StaleConnection(text) : new Error(text);
}
