import { readFileSync } from "node:fs";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import { setTimeout as pause } from "node:timers/promises";
import type { Certificates } from "./etcd-tls.js";

const REQUEST_LIMIT_MS = 30_000;
const HEALTH_LIMIT_MS = 5_000;
const POLL_MS = 10;

/** The user that may do everything, where authentication is on. */
export const ROOT_USER = { user: "root", password: "root-password" };

/** etcd's JSON gateway, https://etcd.io/docs/v3.4/dev-guide/api_grpc_gateway: what a test sees and does by itself. */
export class EtcdGateway {
	private readonly url: string;
	private readonly certificates: Certificates | undefined;
	private token: string | undefined;

	constructor(url: string, certificates: Certificates | undefined) {
		this.url = url;
		this.certificates = certificates;
	}

	/**
	 * Calls a method, as root where authentication is on.
	 *
	 * @param path "/v3/kv/range"
	 * @throws Error with etcd's message; also where there is no answer within the limit.
	 */
	async call<T>(
		path: string,
		body: object = {},
		limitMs = REQUEST_LIMIT_MS,
	): Promise<T> {
		const answer = await this.ask(path, body, limitMs);
		if (answer.status === 200) return JSON.parse(answer.text);
		throw new Error(
			`etcd answered ${answer.status} to ${path}: ${answer.text}`,
		);
	}

	/** Whether it answers and its cluster has a leader. Never rejects. */
	async isHealthy(): Promise<boolean> {
		try {
			const { text } = await this.ask("/health", undefined, HEALTH_LIMIT_MS);
			return JSON.parse(text).health === "true";
		} catch {
			return false;
		}
	}

	/** From now on as root: there is none before, and there is another token after each start. */
	async signIn(): Promise<void> {
		this.token = undefined;
		const { user: name, password } = ROOT_USER;
		const answer = await this.call<{ token: string }>("/v3/auth/authenticate", {
			name,
			password,
		});
		this.token = answer.token;
	}

	signOut(): void {
		this.token = undefined;
	}

	private ask(
		path: string,
		body: object | undefined,
		limitMs: number,
	): Promise<{ status: number | undefined; text: string }> {
		const url = new URL(path, this.url);
		const request = url.protocol === "https:" ? requestHttps : requestHttp;
		return new Promise((resolve, reject) => {
			const sent = request(url, {
				method: body === undefined ? "GET" : "POST",
				agent: false,
				signal: AbortSignal.timeout(limitMs),
				headers: this.token === undefined ? {} : { Authorization: this.token },
				...tlsOptions(this.certificates),
			});
			sent.on("error", reject).on("response", (response) => {
				let text = "";
				response
					.setEncoding("utf8")
					.on("data", (part: string) => {
						text += part;
					})
					.on("error", reject)
					.on("end", () => resolve({ status: response.statusCode, text }));
			});
			sent.end(body === undefined ? undefined : JSON.stringify(body));
		});
	}
}

function tlsOptions(certificates: Certificates | undefined): object {
	if (certificates === undefined) return {};
	return {
		ca: readFileSync(certificates.cacert),
		cert: readFileSync(certificates.cert),
		key: readFileSync(certificates.key),
	};
}

/** Asks again and again, until there is an answer. */
export async function poll<T>(
	what: string,
	limitMs: number,
	look: () => Promise<T | undefined>,
): Promise<T> {
	const deadline = performance.now() + limitMs;
	for (;;) {
		const result = await look();
		if (result !== undefined) return result;
		if (performance.now() > deadline)
			throw new Error(`waited ${limitMs} ms in vain for ${what}`);
		await pause(POLL_MS);
	}
}
