import {
	Agent,
	type ClientRequest,
	type IncomingMessage,
	request,
} from "node:http";
import type { Clock } from "../../base/clock.js";
import { messageOf, systemErrorCode } from "../../base/errors.js";
import type { Answer, Ask, Transport } from "./exchange.js";

/** More than any answer of a metadata service. */
const LARGEST_BYTES = 256 * 1024;

/**
 * The real transport: node:http with an agent of its own, because a link-local address must not be asked for at a proxy,
 * whatever the environment says. Its sockets and timers let the process end.
 */
export class HttpTransport implements Transport {
	private readonly agent = new Agent({ keepAlive: true });
	private readonly pending = new Set<ClientRequest>();
	private isClosed = false;

	/** @param clock its timers let the process end */
	constructor(private readonly clock: Clock) {}

	async exchange(ask: Ask): Promise<Answer> {
		try {
			return await this.once(ask);
		} catch (error) {
			// The service may close a kept connection just when it is used again.
			if (!(error instanceof StaleConnection) || this.isClosed) throw error;
			return this.once(ask);
		}
	}

	close(): void {
		this.isClosed = true;
		for (const one of this.pending) one.destroy();
		this.agent.destroy();
	}

	private once(ask: Ask): Promise<Answer> {
		const { method, url, headers, body, timeoutMs } = ask;
		return new Promise((resolve, reject) => {
			const sent = request(url, { method, headers, agent: this.agent });
			let given: string | undefined;
			let isAnswered = false;
			const give = (words: string) => {
				given = words;
				sent.destroy();
			};
			const refuse = (error: unknown, isReused = false) =>
				reject(problemOf(url, given ?? error, isReused));
			const cancel = this.clock.wakeAt(this.clock.now() + timeoutMs, () =>
				give(`no answer within ${timeoutMs / 1_000} s`),
			);
			this.pending.add(sent);
			sent
				.on("socket", (socket) => socket.unref())
				.on("response", (response) => {
					isAnswered = true;
					readBody(response, give)
						.then((text) => resolve(answerOf(response, text)), refuse)
						.finally(cancel);
				})
				.on("error", (error) => refuse(error, sent.reusedSocket))
				.on("close", () => {
					this.pending.delete(sent);
					// The rest of an answer may still be read.
					if (isAnswered) return;
					cancel();
					refuse("the connection was closed");
				})
				.end(body);
		});
	}
}

class StaleConnection extends Error {}

async function readBody(
	response: IncomingMessage,
	give: (words: string) => void,
): Promise<string> {
	let text = "";
	response.setEncoding("utf8");
	for await (const part of response) {
		text += String(part);
		if (text.length > LARGEST_BYTES) {
			give(`an answer of more than ${LARGEST_BYTES / 1024} KiB`);
		}
	}
	return text;
}

function answerOf({ statusCode, headers }: IncomingMessage, body: string) {
	const plain = Object.entries(headers).map(([name, value]) => [
		name,
		Array.isArray(value) ? value.join(", ") : value,
	]);
	return {
		status: statusCode ?? 0,
		headers: Object.fromEntries(plain),
		body,
	} satisfies Answer;
}

function problemOf(url: string, problem: unknown, isReused: boolean): Error {
	const words = `${url}: ${typeof problem === "string" ? problem : messageOf(problem)}`;
	return isReused && systemErrorCode(problem) === "ECONNRESET"
		? new StaleConnection(words)
		: new Error(words);
}
