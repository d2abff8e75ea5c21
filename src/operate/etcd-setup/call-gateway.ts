import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { text } from "node:stream/consumers";
import { ElasticRunError, messageOf } from "../../base/errors.js";
import type { StoreConfig } from "../../config/agent-config.js";
import { isHttps } from "../../config/parse/endpoints.js";

const ANSWER_WITHIN_MS = 10_000;

export interface GatewayAnswer {
	/** Why etcd refuses; undefined if it has done it. */
	readonly problem: string | undefined;
	readonly body: Readonly<Record<string, unknown>>;
}

/**
 * Calls a method of etcd's JSON gateway at the first endpoint that answers.
 * @throws ElasticRunError STORE_UNREACHABLE if none does
 */
export async function callGateway(
	{ endpoints, credentials }: Pick<StoreConfig, "endpoints" | "credentials">,
	path: string,
	body: object,
	token?: string,
): Promise<GatewayAnswer> {
	let last: unknown;
	for (const endpoint of endpoints) {
		try {
			const answer = await post(endpoint, credentials.tls, path, body, token);
			return read(answer);
		} catch (error) {
			last = error;
		}
	}
	throw new ElasticRunError(
		"STORE_UNREACHABLE",
		`etcd at ${endpoints.join(",")} does not answer: ${messageOf(last)}`,
		{ cause: last },
	);
}

function post(
	endpoint: string,
	tls: StoreConfig["credentials"]["tls"],
	path: string,
	body: object,
	token: string | undefined,
): Promise<string> {
	const settings = {
		method: "POST",
		agent: false as const,
		timeout: ANSWER_WITHIN_MS,
		headers: token === undefined ? {} : { Authorization: token },
	};
	return new Promise((resolve, reject) => {
		const request = isHttps(endpoint)
			? requestSecure(`${endpoint}${path}`, { ...settings, ...tls })
			: requestPlain(`http://${endpoint}${path}`, settings);
		request.on("error", reject);
		request.on("timeout", () => request.destroy(new Error("no answer")));
		request.on("response", (response) => text(response).then(resolve, reject));
		request.end(JSON.stringify(body));
	});
}

/** A refusal has a code that is not 0, and says why in `message` or `error`. */
function read(answer: string): GatewayAnswer {
	const parsed: unknown = JSON.parse(answer);
	const body: Record<string, unknown> =
		typeof parsed === "object" && parsed !== null ? { ...parsed } : {};
	const isRefused = typeof body.code === "number" && body.code !== 0;
	const why = body.message ?? body.error;
	return { problem: isRefused ? String(why) : undefined, body };
}
