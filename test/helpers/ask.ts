import { request } from "node:http";
import { text } from "node:stream/consumers";
import { poll } from "./etcd-gateway.js";
import type { Launch } from "./launch.js";
import { waitFor } from "./processes.js";

const BOUND_MS = 60_000;

export interface Answered {
	readonly status: number;
	readonly headers: Readonly<Record<string, string | string[] | undefined>>;
	readonly body: string;
}

interface AskOptions {
	readonly method?: string;
	/** Host, too, which fetch does not let its callers choose. */
	readonly headers?: Readonly<Record<string, string>>;
	readonly body?: string;
}

/** Asks a server, over a connection of its own. Redirects are not followed. */
export function ask(
	url: string,
	{ method = "GET", headers = {}, body = "" }: AskOptions = {},
): Promise<Answered> {
	return new Promise((resolve, reject) => {
		const asked = request(
			url,
			{ method, headers, agent: false },
			(response) => {
				const { statusCode = 0 } = response;
				text(response).then(
					(read) =>
						resolve({
							...{ status: statusCode, body: read },
							headers: response.headers,
						}),
					reject,
				);
			},
		);
		asked.on("error", reject);
		asked.end(body);
	});
}

/** Waits until an agent says where it can be observed; without the slash at its end. */
export function observedAt({ output }: Launch): Promise<string> {
	return waitFor("an address to be observed at", () => {
		const [, url] =
			/can be observed at (http:\/\/[^\s"]+)\//.exec(output.stderr) ?? [];
		return url;
	});
}

/** Asks again until an answer is as wanted; a server that is not there is asked again too. */
export function askUntil(
	url: string,
	isIt: (answer: Answered) => boolean,
	options?: AskOptions,
): Promise<Answered> {
	return poll(`an answer of ${url}`, BOUND_MS, async () => {
		const answer = await ask(url, options).catch(() => undefined);
		return answer && isIt(answer) ? answer : undefined;
	});
}
